"""What a WSGI server runs."""

from __future__ import annotations

import gc
import sys
from logging import INFO, WARNING, getLogger

from app import create_app
from app.db.migrations import make_first_tables
from app.http import logging
from app.jobs.valkey import valkey
from app.running.embedded import EmbeddedError
from config import SettingsError, load_settings

log = getLogger("canopy.web")

try:
    settings = load_settings()
    logging.configure(settings)
    app = create_app(settings)
except SettingsError as problem:
    sys.exit(str(problem))
make_first_tables(app)
if settings.rate_limit_disabled:  # in production that is seldom meant
    level = WARNING if settings.production else INFO
    log.log(level, "RATE_LIMIT_DISABLED is set: nobody is refused for coming too often")

# The embedded Valkey is started now, if nobody has: no request waits for that. Without it the
# service goes on, and starts it later.
try:
    with app.app_context():
        valkey().find()
except EmbeddedError as problem:
    log.error("%s", problem)

# What is there by now stays. The garbage collector need not look at it again, nor write on the
# pages that the web processes share. And a boundary is a hundred thousand lists, none of them
# garbage: with Python's threshold of 700 a third of its POST went into looking at them.
gc.collect()
gc.freeze()
gc.set_threshold(5_000)
