"""Finding out what is wrong with an instance: ``bin/canopy doctor``."""
