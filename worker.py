"""The worker: runs the jobs of the queues, and the periodic ones. ``python worker.py``."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from collections.abc import Sequence
from functools import partial
from typing import Final, NoReturn

from flask import Flask

from app.db.migrations import make_first_tables
from app.db.postgresql.pool_mode import require_pool_mode
from app.factory import create_app
from app.http import logging
from app.jobs.queue import DELIVERIES, GENERAL, QUEUES
from app.jobs.scheduler import Scheduler
from app.jobs.valkey import connect
from app.maintenance.sealed import require_usable_key
from app.processes.embedded import EmbeddedError, redis_url
from app.processes.job_worker import work_until_stopped
from app.processes.part_registry import Announcer
from app.processes.prefork import Parent
from app.security.sealing import key_check
from app.values.files import make_files_private
from config import Settings, SettingsError, load_settings

END_WITHIN: Final = 8.0  # seconds after SIGTERM; the worker of a queue gives up a little sooner

_ABOUT: Final = f"""\
Run the jobs of the service until SIGTERM or Ctrl-C. One process loads the application and forks
another for each queue, which is restarted if it dies. {DELIVERIES} is for deliveries of events to
webhooks, {GENERAL} for everything else; a worker of {GENERAL} also schedules the periodic jobs.
Several workers, on any machines, share the work."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 stopped as requested, 2 it could not start."""
    queues = _queues(arguments)
    make_files_private()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _exit)
    try:
        settings = load_settings()
        logging.configure(settings)
        app = create_app(settings)
        make_first_tables(app)
        require_pool_mode(settings)
        require_usable_key(app)
        redis_url(settings)
    except (SettingsError, EmbeddedError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    _prepare_forks()
    tasks = {queue: partial(_work, app, settings, queue) for queue in queues}
    Parent(tasks, end_within=END_WITHIN).run()
    return 0


def _queues(arguments: Sequence[str] | None) -> Sequence[str]:
    parser = argparse.ArgumentParser("worker.py", description=_ABOUT)
    parser.add_argument(
        "--queue",
        action="append",
        choices=QUEUES,
        help="work only on this queue; can be repeated",
    )
    named: Sequence[str] | None = parser.parse_args(arguments).queue
    return named or QUEUES


def _prepare_forks() -> None:
    """Limit how long a name is resolved, and keep the garbage collector from touching the memory
    that the processes share."""
    # A name whose servers do not respond would block a thread that resolves it for long.
    os.environ.setdefault("RES_OPTIONS", "timeout:2 attempts:1")
    gc.collect()
    gc.freeze()


def _work(app: Flask, settings: Settings, queue: str) -> None:
    """Run one queue, in a process of its own."""
    with app.app_context():
        if queue == GENERAL:
            Scheduler(lambda: connect(redis_url(settings))).start()
        announcer = Announcer(
            lambda: connect(redis_url(settings)),
            f"worker of the queue {queue}",
            key_check(settings.secret_key),
        )
        announcer.start()
        try:
            work_until_stopped(
                queue,
                lambda: redis_url(settings),
                debug=settings.log_level == "debug",
                job_memory=settings.job_memory_mb << 20,
            )
        finally:
            announcer.stop()


def _exit(*_: object) -> NoReturn:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main())
