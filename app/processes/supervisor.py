"""Runs the parts of an instance together: Valkey, and the application with its web server and
worker. A part that dies is restarted while the rest goes on."""

from __future__ import annotations

import contextlib
import math
import os
import socket
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from app.processes import embedded_valkey, parent_pipe, valkey_watchdog
from app.processes.child_process import STOPPED_FOR, ChildProcess, ExitStatus, Restarts
from app.processes.embedded_valkey import EmbeddedError
from app.processes.logfiles import Mirror, its_log, last_lines, log_path, rotate_log, size_of
from app.processes.parent_pipe import ParentPipe
from app.processes.signal_pipe import SignalPipe
from app.processes.start_report import NOTE, WELCOME, receive_report
from config import ROOT, Settings

CHECK_EVERY: Final = 1.0  # seconds; signals and dead children are noticed at once
ROTATE_EVERY: Final = 60.0
READY_WITHIN: Final = 60.0
# The application takes at most 8 seconds to stop; everything has ended within 10.
END_WITHIN: Final = 8.3
VALKEY_ENDS_WITHIN: Final = 1.0

# Exit codes with which the application itself says why it ends.
WRONG_SETTING: Final = 2
PART_DIED: Final = 3
_EXPLAINED: Final = (WRONG_SETTING, PART_DIED)

_LOGS: Final = ("application.log", "web.log", "worker.log")


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why the instance ends."""

    report: str  # lines for the person who started it
    code: int = 1  # exit code of ``bin/serve``


class Supervisor:
    """Starts, watches and ends the parts of an instance.

    As it runs all the time, it loads nothing of the application: a child does.

    Args:
        command: starts that child.
        lock: a descriptor that the parts inherit.
        listener: the socket on which the web server listens.
        stop_requests: returns how often this process was asked to stop. After the first request the
            parts are asked to stop, after the second they are killed.
    """

    def __init__(
        self,
        settings: Settings,
        command: Sequence[str],
        *,
        lock: int,
        listener: socket.socket,
        stop_requests: Callable[[], int],
    ) -> None:
        self.failure: Failure | None = None
        self._settings = settings
        self._command = command
        self._instance = settings.instance_path
        self._logs = [log_path(settings, name) for name in _LOGS]
        self._valkey_log = self._instance / valkey_watchdog.LOG
        # Where the lines of this run begin in the logs.
        self._log_starts = {path: size_of(path) for path in (*self._logs, self._valkey_log)}
        self._lock = lock
        self._listener = listener
        self._stop_requests = stop_requests
        self._signals = SignalPipe()
        self._pipe = ParentPipe()
        self._application: ChildProcess | None = None
        self._application_restarts = Restarts()
        self._valkey_restarts = Restarts()
        self._valkey: embedded_valkey.Server | None = None
        self._halted_since: dict[str, float] = {}  # by part
        self._mirror: Mirror | None = None
        self._rotated_at = -math.inf

    def run(self, *, empty: bool) -> None:
        """Start the parts, and keep them running until a stop is requested, or until one has died
        that is not restarted. On a terminal, show new lines of the logs.

        Args:
            empty: make no demo account.

        Raises:
            app.processes.embedded_valkey.EmbeddedError: Valkey cannot be started.
        """
        self._rotate_logs()
        if self._settings.redis_url is None:
            if not self._settings.log_files:
                # From its file, as commands may start Valkey, too.
                self._mirror = Mirror([self._valkey_log], sys.stderr.fileno())
            embedded_valkey.redis_url(self._settings)
            self._valkey = embedded_valkey.read_server(self._instance)
        welcome = self._start_first(empty=empty)
        if welcome is None:
            return
        with contextlib.suppress(OSError):  # standard output is closed
            os.write(sys.stdout.fileno(), f"{welcome.rstrip()}\n".encode())
        files = [path for path in self._logs if path is not None]
        if files and sys.stdout.isatty():
            self._mirror = Mirror(files, sys.stdout.fileno())
        while not self._must_end():
            self._signals.wait(CHECK_EVERY)
            if self._must_end():
                break
            self._watch_application()
            self._watch_valkey()
            self._rotate_logs()

    def end(self) -> None:
        """Ask the parts to stop, and kill them after the time limit or at a second request."""
        deadline = time.monotonic() + END_WITHIN
        self._listener.close()
        if self._settings.redis_url is None:
            # The application tells Valkey that it ends, so a stopped one must go on.
            embedded_valkey.resume_server(self._instance)
        application = self._application
        if application is not None:
            application.request_stop()
            while application.is_group_alive() and self._stop_requests() <= 1:
                if time.monotonic() > deadline:
                    break
                self._signals.wait(0.05)
            application.kill()
        os.close(self._pipe.writing)
        os.close(self._pipe.reading)
        self._release_valkey()
        if self._mirror is not None:
            self._mirror.stop()
        self._signals.close()

    def _start_first(self, *, empty: bool) -> str | None:
        """Start the application, and wait until it responds. Returns its welcome text; None if it
        does not respond, or a stop was requested."""
        reading, writing = os.pipe()
        with open(reading, "rb", buffering=0) as report:  # a buffered line would not wake it
            options = ["--report", str(writing), *(["--empty"] if empty else [])]
            self._application = self._start_application(*options, descriptors=[writing])
            os.close(writing)
            deadline = math.inf  # a migration may take long
            while not self._must_end():
                if self._signals.wait(CHECK_EVERY, [reading]) and (
                    message := receive_report(report)
                ):
                    kind, text = message
                    if kind == WELCOME:
                        return text
                    if kind == NOTE:
                        _print_line(text)
                    else:
                        deadline = time.monotonic() + READY_WITHIN
                elif status := self._application.exit_status():
                    if not self._stop_follows():
                        self.failure = _describe_failure(status)
                    return None
                elif time.monotonic() > deadline:
                    reason = f"The web server did not respond within {READY_WITHIN:.0f} s"
                    log = self._logs[1]
                    lines = last_lines(log, after=self._log_starts[log])
                    self.failure = Failure(f"{lines}{reason}{its_log(log)}.\n")
        return None

    def _start_application(self, *options: str, descriptors: Collection[int] = ()) -> ChildProcess:
        # It runs in another folder, where relative paths would mean others.
        paths = {
            field.name.upper(): str(value)
            for field in fields(self._settings)
            if isinstance(value := getattr(self._settings, field.name), Path)
        }
        environment = {
            **os.environ,
            **paths,
            "PYTHONUNBUFFERED": "1",
            # Return large buffers to the system, and keep no small ones for each thread.
            "MALLOC_ARENA_MAX": "1",
            "MALLOC_MMAP_THRESHOLD_": "1048576",
            "MALLOC_TRIM_THRESHOLD_": "1048576",
            parent_pipe.VARIABLE: str(self._pipe.reading),
        }
        if self._settings.log_format == "auto" and self._logs[0] and sys.stdout.isatty():
            environment["LOG_FORMAT"] = "text"  # the logs are shown there
        listener = self._listener.fileno()
        self._application_restarts.note_start()
        return ChildProcess(
            "The application",
            [*self._command, "--listener", str(listener), *options],
            self._logs[0],
            environment=environment,
            folder=ROOT,
            descriptors=[self._pipe.reading, self._lock, listener, *descriptors],
        )

    def _must_end(self) -> bool:
        return self.failure is not None or self._stop_requests() > 0

    def _watch_application(self) -> None:
        """Restart the application when it has died, and kill it when a signal has stopped it."""
        child = self._application
        if child is None:
            if self._application_restarts.is_due:
                self._application = self._start_application()
            return
        if status := child.exit_status():
            child.kill()  # and what it has left behind
            self._application = None
            self._note_death(str(status), _describe_failure(status), self._application_restarts)
        elif self._is_halted_for_long("application", child.is_stopped):
            child.kill()

    def _watch_valkey(self) -> None:
        """Restart Valkey when it has died, unless one of its users has, and kill it when it does
        not answer."""
        if self._settings.redis_url is not None:
            return
        runs = embedded_valkey.is_running(self._instance)
        now = embedded_valkey.read_server(self._instance)
        before, self._valkey = self._valkey, now if runs else None
        if before is not None and (not runs or now is None or now.pid != before.pid):
            reason = embedded_valkey.describe_end(self._instance, before.pid)
            log = self._valkey_log
            sentence = f"Valkey died ({reason}); its log is {log}."
            failure = Failure(f"{last_lines(log, after=self._log_starts[log])}{sentence}\n")
            self._log_starts[log] = size_of(log)
            self._note_death(sentence, failure, self._valkey_restarts)
        if not runs:
            self._start_valkey()
        elif now and self._is_halted_for_long("Valkey", not embedded_valkey.server_responds(now)):
            embedded_valkey.kill_server(now)

    def _start_valkey(self) -> None:
        if self._must_end() or not self._valkey_restarts.is_due:
            return
        self._valkey_restarts.note_start()
        try:
            embedded_valkey.redis_url(self._settings)
        except EmbeddedError as error:
            pause = self._valkey_restarts.note_death()
            _print_line(f"{error} It is tried again in {pause:.1f} s.")
        self._valkey = embedded_valkey.read_server(self._instance)

    def _note_death(self, sentence: str, failure: Failure, restarts: Restarts) -> None:
        if self._stop_follows():
            return
        if not self._settings.restart_parts:
            self.failure = failure
            return
        pause = restarts.note_death()
        _print_line(f"{sentence} It is started again{f' in {pause:.1f} s' if pause else ''}.")

    def _stop_follows(self) -> bool:
        """After a death: True if a stop is requested. A signal to all processes, as systemd sends
        it, may reach a part before this process."""
        self._signals.wait(CHECK_EVERY / 5)
        return self._stop_requests() > 0

    def _is_halted_for_long(self, part: str, is_halted: bool) -> bool:
        if not is_halted:
            self._halted_since.pop(part, None)
            return False
        now = time.monotonic()
        return now > self._halted_since.setdefault(part, now) + STOPPED_FOR

    def _release_valkey(self) -> None:
        """Stop using Valkey, and wait for its end. It goes on while a command uses it."""
        if self._settings.redis_url is not None:
            return
        embedded_valkey.release_valkey(self._instance)
        deadline = time.monotonic() + VALKEY_ENDS_WITHIN
        while embedded_valkey.is_running(self._instance) and time.monotonic() < deadline:
            time.sleep(0.02)

    def _rotate_logs(self) -> None:
        if time.monotonic() - self._rotated_at > ROTATE_EVERY:
            self._rotated_at = time.monotonic()
            limit, files = self._settings.log_file_mb << 20, max(self._settings.log_files, 1)
            for path in (self._instance / "logs").glob("*.log"):
                rotate_log(path, limit, files)


def _describe_failure(status: ExitStatus) -> Failure:
    """Describe the death of the application, which may have explained itself in its log."""
    report = status.lines if status.code in _EXPLAINED else f"{status.lines}{status}\n"
    return Failure(report, 2 if status.code == WRONG_SETTING else 1)


def _print_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
