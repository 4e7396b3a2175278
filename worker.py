"""The worker: runs the jobs of the queues, and the periodic ones. ``python worker.py``."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from flask import Flask

from app.db import connections
from app.db.migrations import make_first_tables
from app.db.postgresql.pool_mode import require_pool_mode
from app.factory import create_app
from app.http import logging
from app.jobs.queue import DELIVERIES, GENERAL, QUEUES
from app.jobs.scheduler import CHECK_EVERY, Scheduler
from app.jobs.valkey import connect_valkey
from app.maintenance.sealed_values import require_usable_key
from app.processes.embedded_valkey import EmbeddedError, redis_url
from app.processes.job_worker import JobWorker
from app.processes.part_registry import INTERVAL, Announcer
from app.security.sealing import key_check
from app.values.files import make_files_private
from config import Settings, SettingsError, load_settings

_ABOUT: Final = f"""\
Run the jobs of the service until SIGTERM or Ctrl-C: one job of each queue at a time, each in a
process of its own. {DELIVERIES} is for deliveries of events to webhooks, {GENERAL} for everything
that no other queue is for; a worker of {GENERAL} also starts the periodic jobs. Several workers, on
any machines, share the work."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the worker. Returns the exit code: 0 stopped as requested, 2 it could not start."""
    queues = _queues(arguments)
    make_files_private()
    try:
        settings = load_settings()
        logging.configure_logging(settings)
        app = create_app(settings)
        make_first_tables(app)
        require_usable_key(app)
        gc.collect()
        gc.freeze()  # else collecting garbage would write to the memory shared with jobs
        try:
            work(app, settings, queues)
        finally:
            connections.close_at_end(app)
    except (SettingsError, EmbeddedError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def work(app: Flask, settings: Settings, queues: Sequence[str] = QUEUES) -> None:
    """Run jobs until this process is asked to stop.

    Raises:
        config.SettingsError: the mode of PgBouncer is wrong.
        app.processes.embedded_valkey.EmbeddedError: the embedded Valkey cannot be started.
    """
    require_pool_mode(settings)
    redis_url(settings)
    # A name whose servers do not respond would block the resolving thread for long.
    os.environ.setdefault("RES_OPTIONS", "timeout:2 attempts:1")
    announcer = Announcer(
        lambda: connect_valkey(redis_url(settings)), "worker", key_check(settings.secret_key)
    )
    periodic = {announcer.announce: INTERVAL}
    if GENERAL in queues:
        scheduler = Scheduler(
            lambda: connect_valkey(redis_url(settings)), database=lambda: _database(app)
        )
        periodic[scheduler.check] = CHECK_EVERY
    with app.app_context():
        JobWorker(
            queues,
            lambda: redis_url(settings),
            periodic=periodic,
            debug=settings.log_level == "debug",
            job_memory=settings.job_memory_mb << 20,
        ).run()
    announcer.withdraw()


@contextmanager
def _database(app: Flask) -> Iterator[None]:
    """Open the database for the block alone: processes of jobs must not inherit its connections."""
    with app.app_context():
        yield
    with app.app_context():  # a new one, as the first returns its connections when it ends
        connections.close_all()


def _queues(arguments: Sequence[str] | None) -> Sequence[str]:
    parser = argparse.ArgumentParser("worker.py", description=_ABOUT)
    parser.add_argument(
        "--queue",
        action="append",
        choices=QUEUES,
        help="work only on this queue; can be repeated",
    )
    queues: Sequence[str] | None = parser.parse_args(arguments).queue
    return queues or QUEUES


if __name__ == "__main__":
    sys.exit(main())
