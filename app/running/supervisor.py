"""Runs the parts of an instance together: they start, are watched and end as one."""

from __future__ import annotations

import http.client
import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

from app.running import embedded, parent_pipe, valkey_watchdog
from app.running.child_process import ChildProcess, ExitStatus
from app.running.logfiles import Mirror, last_lines, rotate
from app.running.parent_pipe import ParentPipe
from config import Settings

LOOK_EVERY = 0.2  # seconds
ROTATE_EVERY = 60.0
READY_WITHIN = 60.0
# Asked to end, the web server takes 7 seconds at most and the worker 8; all is over within 10.
END_WITHIN = 8.3
VALKEY_ENDS_WITHIN = 1.0


class Supervisor:
    """``stop`` tells how often this process was asked to end; the second time hastens."""

    def __init__(
        self,
        settings: Settings,
        root: Path,
        *,
        descriptors: Sequence[int],
        stop: Callable[[], int],
    ) -> None:
        self.exit_status: ExitStatus | None = None
        self._settings = settings
        self._root = root
        self._descriptors = descriptors
        self._stop = stop
        self._instance = settings.instance_path
        self._lifeline = ParentPipe()
        self._parts: list[ChildProcess] = []
        self._valkey: embedded.Server | None = None
        self._mirror: Mirror | None = None
        self._rotated = time.monotonic()
        self._address: tuple[str, int] = ("", 0)

    def start(self, listener: socket.socket) -> None:
        """Start Valkey, unless the settings name one, then the web server and the worker."""
        if self._settings.redis_url is None:
            embedded.ensure(self._instance)
            self._valkey = embedded.recorded(self._instance)
        self._address = _reachable(listener)
        web = ["-m", "gunicorn", "-c", "gunicorn.conf.py", "--bind", f"fd://{listener.fileno()}"]
        self._start_part("The web server", [*web, "wsgi:app"], "web.log", listener.fileno())
        listener.close()  # when the web server stops listening, nobody does
        self._start_part("The worker", ["worker.py"], "worker.log")

    def is_ready(self) -> bool:
        """Wait until a request is answered; False when a part died or the end was asked for."""
        deadline = time.monotonic() + READY_WITHIN
        while not self._must_end():
            if _is_answered(self._address):
                return not self._stop()
            if time.monotonic() > deadline:
                web = self._parts[0]
                self.exit_status = ExitStatus(
                    web.name, f"no answer in {READY_WITHIN:.0f} s", web.log
                )
            time.sleep(LOOK_EVERY)
        return False

    def watch(self) -> None:
        """Return when the end is asked for or a part has died. A terminal sees the logs grow."""
        if sys.stdout.isatty():
            self._mirror = Mirror([part.log for part in self._parts], sys.stdout.fileno())
        while not self._must_end():
            time.sleep(LOOK_EVERY)
            self._rotate_logs()

    def end(self) -> None:
        """End every part: gently, when time is up or at a second signal by force."""
        deadline = time.monotonic() + END_WITHIN
        for part in self._parts:
            part.ask_to_end()
        while any(part.has_left_any() for part in self._parts):
            if time.monotonic() > deadline or self._stop() > 1:
                break
            time.sleep(0.05)
        for part in self._parts:
            part.kill()
        os.close(self._lifeline.writing)
        os.close(self._lifeline.reading)
        self._leave_valkey()
        if self._mirror is not None:
            self._mirror.stop()

    def report(self) -> str:
        """The end of the dead part's log, and as last line what died."""
        assert self.exit_status is not None
        return f"{last_lines(self.exit_status.log)}{self.exit_status}\n"

    def _start_part(self, name: str, command: list[str], log: str, *descriptors: int) -> None:
        paths = {
            item.name.upper(): str(value)
            for item in fields(self._settings)
            # The parts run in the root of the repository, where a relative path would mislead.
            if isinstance(value := getattr(self._settings, item.name), Path)
        }
        environment = {
            **os.environ,
            **paths,
            "PYTHONUNBUFFERED": "1",
            # Large buffers go back to the system, instead of to each thread's own reserve.
            "MALLOC_MMAP_THRESHOLD_": "1048576",
            "MALLOC_TRIM_THRESHOLD_": "1048576",
            parent_pipe.VARIABLE: str(self._lifeline.reading),
        }
        if self._settings.log_format == "auto" and sys.stdout.isatty():
            environment["LOG_FORMAT"] = "text"  # as they are shown there
        self._parts.append(
            ChildProcess(
                name,
                [sys.executable, *command],
                self._instance / "logs" / log,
                environment=environment,
                folder=self._root,
                descriptors=[self._lifeline.reading, *self._descriptors, *descriptors],
            )
        )

    def _must_end(self) -> bool:
        if self.exit_status is None and not self._stop():
            self.exit_status = self._find_exit()
            # One signal to all processes at once, as from systemd, may reach a part first.
            if self.exit_status is not None:
                time.sleep(LOOK_EVERY)
                self.exit_status = None if self._stop() else self.exit_status
        return self.exit_status is not None or self._stop() > 0

    def _find_exit(self) -> ExitStatus | None:
        for part in self._parts:
            if death := part.exit_status():
                return death
        return self._valkey_exit()

    def _valkey_exit(self) -> ExitStatus | None:
        if self._valkey is None:
            return None
        how = embedded.describe_end(self._instance, self._valkey.pid)
        return ExitStatus("Valkey", how, self._instance / valkey_watchdog.LOG) if how else None

    def _leave_valkey(self) -> None:
        """It ends with its last user, which may be somebody else's."""
        if self._valkey is None:
            return
        embedded.release(self._instance)
        deadline = time.monotonic() + VALKEY_ENDS_WITHIN
        while embedded.is_running(self._instance) and time.monotonic() < deadline:
            time.sleep(0.02)

    def _rotate_logs(self) -> None:
        if time.monotonic() - self._rotated > ROTATE_EVERY:
            self._rotated = time.monotonic()
            for path in (self._instance / "logs").glob("*.log"):
                rotate(path)


def _reachable(listener: socket.socket) -> tuple[str, int]:
    """Where this machine reaches the socket; one on all addresses is reached on the loopback."""
    host, port = listener.getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104 - compared


def _is_answered(address: tuple[str, int]) -> bool:
    connection = http.client.HTTPConnection(*address, timeout=1)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
