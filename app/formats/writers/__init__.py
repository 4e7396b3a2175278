"""Writers of files with features."""
