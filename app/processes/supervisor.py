"""Running the processes of an instance together: when one dies, all end."""

from __future__ import annotations

import http.client
import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

from app.processes import embedded, parent_pipe, valkey_watchdog
from app.processes.child_process import ChildProcess, ExitStatus
from app.processes.logfiles import Mirror, last_lines, rotate
from app.processes.parent_pipe import ParentPipe
from config import Settings

CHECK_EVERY = 0.2  # seconds
ROTATE_EVERY = 60.0
READY_WITHIN = 60.0
# Asked to stop, the web server takes 7 seconds at most and the worker 8; all have ended within 10.
END_WITHIN = 8.3
VALKEY_ENDS_WITHIN = 1.0


class Supervisor:
    """Starts, watches and ends the processes of an instance.

    ``stop_requests`` returns how often this process was asked to stop. The first time, the children
    are asked to stop; the second time, they are killed.
    """

    def __init__(
        self,
        settings: Settings,
        root: Path,
        *,
        descriptors: Sequence[int],
        stop_requests: Callable[[], int],
    ) -> None:
        self.exit_status: ExitStatus | None = None
        self._settings = settings
        self._root = root
        self._descriptors = descriptors
        self._stop_requests = stop_requests
        self._instance = settings.instance_path
        self._pipe = ParentPipe()
        self._children: list[ChildProcess] = []
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
        self._start_child("The web server", [*web, "wsgi:app"], "web.log", listener.fileno())
        listener.close()  # else the port would stay open after the web server has closed it
        self._start_child("The worker", ["worker.py"], "worker.log")

    def wait_until_ready(self) -> bool:
        """Wait until the web server responds; False when a child died or a stop was requested."""
        deadline = time.monotonic() + READY_WITHIN
        while not self._must_end():
            if _responds(self._address):
                if sys.stdout.isatty():
                    logs = [child.log for child in self._children]
                    self._mirror = Mirror(logs, sys.stdout.fileno())
                return not self._stop_requests()
            if time.monotonic() > deadline:
                web = self._children[0]
                self.exit_status = ExitStatus(
                    web.name, f"no response within {READY_WITHIN:.0f} s", web.log
                )
            time.sleep(CHECK_EVERY)
        return False

    def watch(self) -> None:
        """Return when a stop was requested or a child has died. Until then, show new lines of the
        logs on a terminal."""
        if self._mirror is not None:
            self._mirror.start()
        while not self._must_end():
            time.sleep(CHECK_EVERY)
            self._rotate_logs()

    def end(self) -> None:
        """Ask every child to stop, and kill it after the time limit or at a second request."""
        deadline = time.monotonic() + END_WITHIN
        for child in self._children:
            child.request_stop()
        while any(child.is_group_alive() for child in self._children):
            if time.monotonic() > deadline or self._stop_requests() > 1:
                break
            time.sleep(0.05)
        for child in self._children:
            child.kill()
        os.close(self._pipe.writing)
        os.close(self._pipe.reading)
        self._release_valkey()
        if self._mirror is not None:
            self._mirror.stop()

    def report(self) -> str:
        """The end of the log of the child that died, and a last line on how it died."""
        assert self.exit_status is not None
        return f"{last_lines(self.exit_status.log)}{self.exit_status}\n"

    def _start_child(self, name: str, command: list[str], log: str, *descriptors: int) -> None:
        paths = {
            item.name.upper(): str(value)
            for item in fields(self._settings)
            # The children run in the root of the repository, where relative paths mean others.
            if isinstance(value := getattr(self._settings, item.name), Path)
        }
        environment = {
            **os.environ,
            **paths,
            "PYTHONUNBUFFERED": "1",
            # Return large buffers to the system instead of keeping them for each thread.
            "MALLOC_MMAP_THRESHOLD_": "1048576",
            "MALLOC_TRIM_THRESHOLD_": "1048576",
            parent_pipe.VARIABLE: str(self._pipe.reading),
        }
        if self._settings.log_format == "auto" and sys.stdout.isatty():
            environment["LOG_FORMAT"] = "text"  # the logs are shown there
        self._children.append(
            ChildProcess(
                name,
                [sys.executable, *command],
                self._instance / "logs" / log,
                environment=environment,
                folder=self._root,
                descriptors=[self._pipe.reading, *self._descriptors, *descriptors],
            )
        )

    def _must_end(self) -> bool:
        if self.exit_status is None and not self._stop_requests():
            self.exit_status = self._find_exit()
            # A signal to all processes at once, as systemd sends it, may reach a child first.
            if self.exit_status is not None:
                time.sleep(CHECK_EVERY)
                self.exit_status = None if self._stop_requests() else self.exit_status
        return self.exit_status is not None or self._stop_requests() > 0

    def _find_exit(self) -> ExitStatus | None:
        for child in self._children:
            if status := child.exit_status():
                return status
        return self._valkey_exit()

    def _valkey_exit(self) -> ExitStatus | None:
        if self._valkey is None:
            return None
        reason = embedded.describe_end(self._instance, self._valkey.pid)
        log = self._instance / valkey_watchdog.LOG
        return ExitStatus("Valkey", reason, log) if reason else None

    def _release_valkey(self) -> None:
        """Stop using Valkey, and wait for its end; it goes on while a command still uses it."""
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
    """The address to connect to: the loopback for a socket on all addresses."""
    host, port = listener.getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104 - compared


def _responds(address: tuple[str, int]) -> bool:
    connection = http.client.HTTPConnection(*address, timeout=1)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
