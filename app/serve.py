"""``bin/serve``: runs an instance, that is its web server, its worker and its own Valkey, as one.

All of it starts, or none; when a part dies, all end, and so they do when this process ends in any
way. Exit codes: 0 ended as asked, 1 a part died, 2 it could not start.
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

from app import create_app
from app.cli.first_start import welcome
from app.db import connections, migrations
from app.db.extensions import db
from app.db.snapshots import reason
from app.http import logging
from app.running.embedded import EmbeddedError
from app.running.instance_lock import CannotStart, listen, lock_instance
from app.running.supervisor import Supervisor
from config import ROOT, Settings, SettingsError, load_settings


class Stop:
    """Counts the signals that ask to end: the second one hastens.

    Until the first child is started there is nothing to end but this process, which a signal does
    at once; from then on the supervisor looks here.
    """

    def __init__(self) -> None:
        self.count = 0
        self.at_once = True
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup sets SIGHUP
                signal.signal(number, self._receive)

    def _receive(self, *_: Any) -> None:
        self.count += 1
        if self.at_once:
            raise SystemExit(0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bin/serve", description="Run the service until Ctrl-C.")
    parser.add_argument(
        "--empty", action="store_true", help="make no demo account in an empty database"
    )
    options = parser.parse_args(arguments)
    stop = Stop()
    try:
        return serve(load_settings(), stop, empty=options.empty)
    except (SettingsError, EmbeddedError, CannotStart) as error:
        sys.stderr.write(f"{error}\n")
        return 2


def serve(settings: Settings, stop: Stop, *, empty: bool = False) -> int:
    """Run the instance until it is asked to end or a part of it dies."""
    logging.configure(settings)
    with lock_instance(settings.instance_path) as claim, listen(settings) as listener:
        app = create_app(settings)
        _bring_database_up_to_date(app)
        supervisor = Supervisor(settings, ROOT, descriptors=[claim], stop=lambda: stop.count)
        stop.at_once = False
        try:
            supervisor.start(listener)
            if supervisor.is_ready():
                _show(app, settings, empty=empty)
                supervisor.watch()
        finally:
            supervisor.end()
    if supervisor.exit_status is None:
        return 0
    sys.stderr.write(supervisor.report())
    return 1


def _bring_database_up_to_date(app: Flask) -> None:
    getLogger("flask_migrate").setLevel("CRITICAL")  # what it would say is said below
    with app.app_context():
        name = db.engine.url.render_as_string(hide_password=True)
        try:
            migrations.upgrade()
        except SQLAlchemyError as error:
            raise CannotStart(f"The database {name} cannot be used ({reason(error)}).") from None
        except SystemExit as end:  # how Flask-Migrate ends when Alembic refuses
            if not end.code:
                raise
            why = reason(end.__context__ or end)
            raise CannotStart(
                f"The database {name} cannot be brought up to date ({why})."
            ) from None
    _disconnect(app)


def _disconnect(app: Flask) -> None:
    """In a context of its own, as the last one gives its connections back when it ends."""
    with app.app_context():
        connections.close_all()


def _show(app: Flask, settings: Settings, *, empty: bool) -> None:
    """Make the demo account and say how to go on: when the service answers, and not before, as a
    key is shown once."""
    with app.app_context():
        text = welcome(settings, empty=empty)
    _disconnect(app)
    with contextlib.suppress(OSError):  # whoever read it is gone
        os.write(sys.stdout.fileno(), f"{text.rstrip()}\n".encode())


if __name__ == "__main__":
    sys.exit(main())
