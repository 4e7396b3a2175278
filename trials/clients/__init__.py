"""Programs that draw maps, against a running service. ``bin/trials map-programs`` tries all that
are installed; ``test_short_form`` tries those from PyPI on a small layer, as part of the suite."""
