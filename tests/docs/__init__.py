"""What the pages for people say, held to the truth."""
