"""The checks of ``bin/canopy doctor``: each is a function that yields what it finds."""
