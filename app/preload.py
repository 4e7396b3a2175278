"""The part of ``bin/serve`` that loads the application once, and forks the web server and the
worker, which share that memory. ``app.serve`` starts it.

Exit codes: 0 stopped as requested, 2 a setting is wrong, 3 it could not start, or a part died
during the start or with RESTART_PARTS off.
"""

from __future__ import annotations

import argparse
import gc
import http.client
import os
import socket
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from app.processes.embedded_valkey import EmbeddedError
from app.processes.instance_lock import CannotStart
from app.processes.logfiles import its_log, last_lines, log_path, open_log, size_of
from app.processes.metrics_folder import (
    forget_process,
    remove_metrics_folder,
    set_metrics_folder,
)
from app.processes.prefork import Child, ChildDied, Parent
from app.processes.start_report import LOADED, NOTE, WELCOME, send_report
from app.processes.supervisor import PART_DIED, WRONG_SETTING
from config import Settings, SettingsError, load_settings, unused_settings

END_WITHIN: Final = 8.0  # seconds after SIGTERM; web server and worker give up a little sooner
_ASK_EVERY: Final = 0.05  # seconds
_LOGS: Final = {"web server": "web.log", "worker": "worker.log"}


def main() -> int:
    parser = argparse.ArgumentParser("app.preload")
    parser.add_argument("--listener", type=int, required=True, help="the listening socket")
    parser.add_argument("--report", type=int, help="the pipe for messages about the start")
    parser.add_argument("--empty", action="store_true", help="make no demo account")
    options = parser.parse_args()
    try:
        settings = load_settings()
        set_metrics_folder(settings)  # before the imports below make metrics
        return _run_instance(settings, options)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return WRONG_SETTING
    except (EmbeddedError, CannotStart) as error:
        sys.stderr.write(f"{error}\n")
        return PART_DIED


def _run_instance(settings: Settings, options: argparse.Namespace) -> int:
    """Bring the database up to date, and run web server and worker until SIGTERM."""
    import worker  # noqa: PLC0415
    from app.db import connections  # noqa: PLC0415
    from app.demo.first_start import welcome_text  # noqa: PLC0415
    from app.maintenance.sealed_values import require_usable_key  # noqa: PLC0415
    from app.processes.web_server.web_processes import WebProcess, WebServer  # noqa: PLC0415
    from wsgi import app  # noqa: PLC0415

    logs = {part: log_path(settings, name) for part, name in _LOGS.items()}
    _report_unused_settings(options.report)
    _upgrade_database(app, options.report)
    try:
        require_usable_key(app)
    except SettingsError as error:  # a key is lost; all else works
        _report_line(str(error), options.report)
    gc.collect()
    gc.freeze()  # else collecting garbage would write to the memory that the parts share

    address = reachable_address(options.listener)
    web_server = WebServer(options.listener)

    def serve(process: WebProcess) -> None:
        _log_to(logs["web server"])
        process.run()

    def run_jobs() -> None:
        web_server.close()
        _log_to(logs["worker"])
        try:
            worker.work(app, settings)
        except (SettingsError, EmbeddedError) as error:
            sys.exit(str(error))

    def greet() -> None:
        """Send the welcome text once the service responds: it shows the demo's key only once."""
        web_server.close()
        while not is_responding(address):
            time.sleep(_ASK_EVERY)
        with app.app_context(), suppress(BrokenPipeError):
            send_report(options.report, WELCOME, welcome_text(settings, empty=options.empty))

    children = [
        Child("web server", partial(serve, process), last_sign=process.last_sign)
        for process in web_server.processes
    ]
    children += [Child("worker", run_jobs) for _ in range(settings.job_workers)]
    if options.report is not None:
        send_report(options.report, LOADED)
        children.append(Child("welcome", greet, is_once=True))
    log_starts = {part: size_of(log) for part, log in logs.items()}
    try:
        Parent(
            children,
            restarts=settings.restart_parts,
            end_within=END_WITHIN,
            on_stop=web_server.close,
            on_end=forget_process,
        ).run()
    except ChildDied as death:
        log = logs.get(death.name)  # lines of this process's own log are shown anyway
        lines = last_lines(log, after=log_starts.get(death.name, 0))
        sys.stderr.write(f"{lines}The {death}{its_log(log)}.\n")
        return PART_DIED
    finally:
        remove_metrics_folder()
        connections.close_at_end(app)
    return 0


def _upgrade_database(app: Flask, report: int | None) -> None:
    from app.db import connections, migrations  # noqa: PLC0415
    from app.db.extensions import db  # noqa: PLC0415
    from app.db.snapshots import error_reason, shown_url  # noqa: PLC0415

    with app.app_context():
        name = shown_url(db.engine.url)
        try:
            migrations.upgrade(lambda line: _report_line(line, report))
        except SQLAlchemyError as error:
            raise CannotStart(
                f"The database {name} cannot be used ({error_reason(error)})."
            ) from None
        except migrations.CannotMigrate as error:
            raise CannotStart(f"The database {name} cannot be migrated. {error}") from None
    with app.app_context():  # a new one, as the first returns its connections when it ends
        connections.close_all()


def _report_unused_settings(report: int | None) -> None:
    """Tell the person who started the instance; wsgi has told the log."""
    if report is not None and load_settings().log_files:
        for sentence in unused_settings():
            send_report(report, NOTE, sentence)


def _report_line(line: str, report: int | None) -> None:
    """Write a line to the log, and to the person who started the instance, unless they read the
    log."""
    if report is None or load_settings().log_files:
        sys.stdout.write(f"{line}\n")
    if report is not None:
        send_report(report, NOTE, line)


def _log_to(path: Path | None) -> None:
    """Redirect the output of this process to its log; None: to standard error, as it is already."""
    if path is None:
        return
    log = open_log(path)
    os.dup2(log, sys.stdout.fileno())
    os.dup2(log, sys.stderr.fileno())
    os.close(log)


def reachable_address(listener: int) -> tuple[str, int]:
    """Return the address to connect to: the loopback for a socket on all addresses."""
    with socket.socket(fileno=os.dup(listener)) as bound:
        host, port = bound.getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104 - compared


def is_responding(address: tuple[str, int]) -> bool:
    """True if the web server responds."""
    connection = http.client.HTTPConnection(*address, timeout=1)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
