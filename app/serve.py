"""``bin/serve``: runs the web server, the worker and the Valkey of an instance.

All of them start, or none. When one dies, or this process ends in any way, all end. Exit codes:
0 stopped as requested, 1 one of them died, 2 it could not start.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from logging import getLogger
from typing import Any

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from app.db import connections, migrations
from app.db.extensions import db
from app.db.snapshots import reason, shown_url
from app.demo.first_start import welcome
from app.factory import create_app
from app.http import logging
from app.processes.embedded import EmbeddedError
from app.processes.instance_lock import CannotStart, listen, lock_instance
from app.processes.supervisor import Supervisor
from app.values.files import make_files_private
from config import ROOT, Settings, SettingsError, load_settings


class StopSignals:
    """Counts the signals that ask this process to stop.

    While ``exits_at_once``, which is until the first child is started, a signal ends this process.
    From then on the supervisor reads ``count``.
    """

    def __init__(self) -> None:
        self.count = 0
        self.exits_at_once = True
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, self._receive)

    def _receive(self, *_: Any) -> None:
        self.count += 1
        if self.exits_at_once:
            raise SystemExit(0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bin/serve", description="Run the service until Ctrl-C.")
    parser.add_argument(
        "--empty", action="store_true", help="do not create a demo account in an empty database"
    )
    options = parser.parse_args(arguments)
    make_files_private()
    signals = StopSignals()
    try:
        return serve(load_settings(), signals, empty=options.empty)
    except (SettingsError, EmbeddedError, CannotStart) as error:
        sys.stderr.write(f"{error}\n")
        return 2


def serve(settings: Settings, signals: StopSignals, *, empty: bool = False) -> int:
    """Run the instance until a signal asks it to stop, or one of its processes dies."""
    logging.configure(settings)
    with lock_instance(settings.instance_path) as lock, listen(settings) as listener:
        app = create_app(settings)
        _upgrade_database(app)
        supervisor = Supervisor(
            settings, ROOT, descriptors=[lock], stop_requests=lambda: signals.count
        )
        signals.exits_at_once = False
        try:
            supervisor.start(listener)
            if supervisor.wait_until_ready():
                _show_welcome(app, settings, empty=empty)
                supervisor.watch()
        finally:
            supervisor.end()
    if supervisor.exit_status is None:
        return 0
    sys.stderr.write(supervisor.report())
    return 1


def _upgrade_database(app: Flask) -> None:
    getLogger("flask_migrate").setLevel("CRITICAL")  # its errors are raised below
    with app.app_context():
        name = shown_url(db.engine.url)
        try:
            migrations.upgrade()
        except SQLAlchemyError as error:
            raise CannotStart(f"The database {name} cannot be used ({reason(error)}).") from None
        except SystemExit as end:  # Flask-Migrate raises it when Alembic fails
            if not end.code:
                raise
            cause = reason(end.__context__ or end)
            raise CannotStart(
                f"The database {name} cannot be brought up to date ({cause})."
            ) from None
    _disconnect(app)


def _disconnect(app: Flask) -> None:
    """In a new context, as the one before returns its connections to the pool when it ends."""
    with app.app_context():
        connections.close_all()


def _show_welcome(app: Flask, settings: Settings, *, empty: bool) -> None:
    """Make the demo account, and print how to go on. Only once the service responds: the key of the
    account is shown this once."""
    with app.app_context():
        text = welcome(settings, empty=empty)
    _disconnect(app)
    with contextlib.suppress(OSError):  # standard output is closed
        os.write(sys.stdout.fileno(), f"{text.rstrip()}\n".encode())


if __name__ == "__main__":
    sys.exit(main())
