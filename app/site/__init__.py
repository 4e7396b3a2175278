"""What all pages share: the frame, forms, who is signed in, static files."""
