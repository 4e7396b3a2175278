"""The application for WSGI servers."""

from __future__ import annotations

import gc
import sys
from logging import INFO, WARNING, getLogger

import click
from flask.cli import run_command
from werkzeug.serving import is_running_from_reloader

from app.db.migrations import make_first_tables
from app.factory import create_app
from app.geometry.countries import load_world
from app.http import logging
from app.jobs.valkey import valkey
from app.processes.embedded_valkey import EmbeddedError
from app.processes.worker_registry import count_workers
from app.values.files import make_files_private
from config import SettingsError, load_settings, unused_settings

log = getLogger("canopy.web")
make_files_private()

try:
    settings = load_settings()
    logging.configure_logging(settings)
    app = create_app(settings)
except SettingsError as problem:
    sys.stderr.write(f"{problem}\n")
    sys.exit(2)
make_first_tables(app)
for sentence in unused_settings():
    log.warning("%s", sentence)
if settings.rate_limit_disabled:  # rarely intended in production
    level = WARNING if settings.production else INFO
    log.log(level, "RATE_LIMIT_DISABLED is set: no rate limit applies")

# Start the embedded Valkey now, so that no request waits for it. If that fails, the service goes on
# without it and tries again later.
try:
    with app.app_context():
        valkey().resolve()
except EmbeddedError as problem:
    log.error("%s", problem)

command = click.get_current_context(silent=True)
if command is not None and command.command is run_command and not is_running_from_reloader():
    with app.app_context():
        workers = valkey().attempt(count_workers)
    if workers is not None and not all(workers.values()):
        click.echo(" * No worker is running: mails and webhooks wait. Start one: python worker.py")

load_world()  # the countries, once for all processes

# The garbage collector need not visit what exists now, nor write to the memory that the web
# processes share. The threshold: a boundary is a hundred thousand lists, none of them garbage, and
# with Python's default of 700 visiting them took a third of a POST.
gc.collect()
gc.freeze()
gc.set_threshold(5_000)
