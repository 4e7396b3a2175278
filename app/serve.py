"""``bin/serve``: runs the web server, the worker and the Valkey of an instance.

It is small, as it runs all the time: the application is in another process (``app.preload``). A
part that dies is restarted. Exit codes: 0 stopped as requested, 1 it could not start, or a part
died during the start or with RESTART_PARTS off, 2 a setting is wrong.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from app.processes.embedded_valkey import EmbeddedError
from app.processes.instance_lock import CannotStart, lock_instance, open_listener
from app.processes.supervisor import Supervisor
from app.values.command_name import has_scripts
from app.values.files import make_files_private
from config import Settings, SettingsError, load_settings


class StopSignals:
    """Counts the signals that ask this process to stop.

    Until the first child is started, ``exits_at_once`` is set, and a signal ends this process. Then
    the supervisor reads ``count``.
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
    parser = argparse.ArgumentParser(
        "bin/serve" if has_scripts() else "python -m app.serve",
        description="Run the service until Ctrl-C.",
    )
    parser.add_argument(
        "--empty", action="store_true", help="do not create a demo account in an empty database"
    )
    parser.add_argument("--small", action="store_true", help="as SMALL=true: take little memory")
    options = parser.parse_args(arguments)
    if options.small:
        os.environ["SMALL"] = "true"
    make_files_private()
    signals = StopSignals()
    try:
        return serve_instance(load_settings(), signals, empty=options.empty)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except (EmbeddedError, CannotStart) as error:
        sys.stderr.write(f"{error}\n")
        return 1


def serve_instance(settings: Settings, signals: StopSignals, *, empty: bool = False) -> int:
    """Run the instance until a signal asks it to stop, or it cannot go on. Returns the exit
    code."""
    with lock_instance(settings.instance_path) as lock, open_listener(settings) as listener:
        supervisor = Supervisor(
            settings,
            [sys.executable, "-m", "app.preload"],
            lock=lock,
            listener=listener,
            stop_requests=lambda: signals.count,
        )
        signals.exits_at_once = False
        try:
            supervisor.run(empty=empty)
        finally:
            supervisor.end()
    if supervisor.failure is None:
        return 0
    sys.stderr.write(supervisor.failure.report)
    return supervisor.failure.code


if __name__ == "__main__":
    sys.exit(main())
