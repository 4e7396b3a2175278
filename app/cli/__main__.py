"""``python -m app.cli``: what bin/canopy runs."""

import gc

from app.cli import main

# A command spends most of its time importing, during which there is no garbage.
gc.set_threshold(100_000)

main()
