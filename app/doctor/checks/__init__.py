"""The checks of ``bin/canopy doctor``: functions that yield their results."""
