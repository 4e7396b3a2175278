"""``bin/canopy doctor``: checks of an instance, with advice, and repairs."""
