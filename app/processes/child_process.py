"""The child processes of a supervisor, and how they exit."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.processes.logfiles import its_log, last_lines, open_log, size_of

STOPPED_FOR: Final = 5.0  # seconds that a child may be stopped by a signal before it is killed
STABLE_AFTER: Final = 10.0  # seconds; a child that dies sooner is restarted after a pause
MIN_PAUSE: Final = 0.5  # seconds, doubled after each early death
MAX_PAUSE: Final = 30.0


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """How a process ended, and the last lines of its log. ``code`` is negative for a signal."""

    name: str
    code: int
    log: Path | None
    lines: str

    def __str__(self) -> str:
        return f"{self.name} died ({describe_exit(self.code)}){its_log(self.log)}."


class ChildProcess:
    """A child process that leads its own process group: Ctrl-C in the supervisor's terminal does
    not reach it, and everything that it leaves behind can be killed by the group."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path | None,
        *,
        environment: Mapping[str, str],
        folder: Path,
        descriptors: Collection[int],
    ) -> None:
        self.name = name
        self.log = log
        output = open_log(log)
        self._log_start = size_of(log)
        # S603: the commands are ours.
        self._process = subprocess.Popen(  # noqa: S603
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=descriptors,
        )
        os.close(output)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def exit_status(self) -> ExitStatus | None:
        """How it ended; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        lines = last_lines(self.log, after=self._log_start)
        return ExitStatus(self.name, status, self.log, lines)

    @property
    def is_stopped(self) -> bool:
        """True while a signal has stopped it; not on macOS."""
        if not hasattr(os, "waitid"):
            return False
        options = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        with contextlib.suppress(ChildProcessError):
            return os.waitid(os.P_PID, self._process.pid, options) is not None
        return False

    def request_stop(self) -> None:
        """Send SIGTERM to the process or, when it is dead, to the processes that it left behind."""
        if self.is_running:
            self._process.terminate()
        else:
            self._signal_group(signal.SIGTERM)

    def kill(self) -> None:
        self._signal_group(signal.SIGKILL)
        self._process.wait()

    def is_group_alive(self) -> bool:
        """True if any process of the group is alive."""
        if self.is_running:
            return True
        # As process 1 of a container, this one inherits orphans; they count as alive until reaped.
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-self._process.pid, os.WNOHANG)[0]:
                pass
        return self._signal_group(0)

    def _signal_group(self, number: int) -> bool:
        # PermissionError: on macOS a group of which only a zombie is left
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)
            return True
        return False


class Restarts:
    """Schedules the restart of a process: at once, or after a pause that doubles with each early
    death. Times are monotonic."""

    def __init__(self) -> None:
        self.started_at = self.due_at = time.monotonic()
        self._pause = 0.0

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self.due_at

    def note_start(self) -> None:
        self.started_at = time.monotonic()

    def note_death(self) -> float:
        """Schedule the next start. Returns the seconds until then."""
        now = time.monotonic()
        is_early = now <= self.started_at + STABLE_AFTER
        self._pause = min(max(2 * self._pause, MIN_PAUSE), MAX_PAUSE) if is_early else 0.0
        self.due_at = now + self._pause
        return self._pause


def changed_processes() -> Iterator[tuple[int, int, Any]]:
    """Yield what ``wait4`` returns for each child that was stopped, continued or ended: process id,
    status and usage. As process 1 of a container, this one also has orphans."""
    with contextlib.suppress(ChildProcessError):
        while (changed := os.wait4(-1, os.WNOHANG | os.WUNTRACED | os.WCONTINUED))[0]:
            yield changed


def describe_exit(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"
