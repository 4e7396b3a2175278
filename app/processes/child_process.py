"""The child processes of a supervisor, and how they exit."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.processes.logfiles import open_log


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """The exit of a process, and its log."""

    name: str
    reason: str
    log: Path

    def __str__(self) -> str:
        return f"{self.name} died ({self.reason}); its log is {self.log}."


class ChildProcess:
    """A child process that leads its own process group: Ctrl-C in the supervisor's terminal does
    not reach it, and everything that it leaves behind can be killed by the group."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        *,
        environment: Mapping[str, str],
        folder: Path,
        descriptors: Collection[int],
    ) -> None:
        self.name = name
        self.log = log
        output = open_log(log)
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
        """Its exit, or None while it runs."""
        status = self._process.poll()
        return None if status is None else ExitStatus(self.name, describe_exit(status), self.log)

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
        """True if a process of its group is alive."""
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


def describe_exit(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"
