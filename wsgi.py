"""What a WSGI server runs."""

from __future__ import annotations

import gc

from app import create_app
from app.core import logging
from app.core.migrations import make_first_tables
from config import load_settings

settings = load_settings()
logging.configure(settings)
app = create_app(settings)
make_first_tables(app)

# What is there by now stays. The garbage collector need not look at it again, nor write on the
# pages that the web processes share. And a boundary is a hundred thousand lists, none of them
# garbage: with Python's threshold of 700 a third of its POST went into looking at them.
gc.collect()
gc.freeze()
gc.set_threshold(5_000)
