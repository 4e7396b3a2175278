"""``python -m app.cli``: what bin/canopy runs."""

from app.cli import main

main()
