"""What the files for operators say, held to what there is."""
