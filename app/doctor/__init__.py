"""``bin/canopy doctor``: checks of an instance, each with advice."""
