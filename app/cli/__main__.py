"""``python -m app.cli``: what bin/canopy runs."""

import gc

from app.cli import main

# A command is short, and most of its time is importing: collecting garbage meanwhile finds none.
gc.set_threshold(100_000)

main()
