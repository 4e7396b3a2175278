"""Hosts: places where processes run, which can all be killed at once."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from config import ROOT
from tests.processes.instances import Marked

UID = pwd.getpwnam("nobody").pw_uid  # PostgreSQL and pgbouncer do not run as root


class Host:
    """This machine, in a folder of its own."""

    def __init__(self, name: str, address: str, folder: Path) -> None:
        self.name, self.address, self.folder = name, address, folder
        self.environ: dict[str, str] = {}  # of all its processes
        self._marked = Marked(folder)
        self._started: list[subprocess.Popen[bytes]] = []
        folder.mkdir(parents=True)

    def start(
        self,
        command: Sequence[str],
        environ: Mapping[str, str] | None = None,
        *,
        log: str,
        is_unprivileged: bool = False,
        folder: Path = ROOT,
    ) -> subprocess.Popen[bytes]:
        """Start a process, which writes its output to a file of this host."""
        own = self._marked.environment | self.environ | dict(environ or {})
        with (self.folder / log).open("ab") as output:
            process = subprocess.Popen(
                [*self._prefix(is_unprivileged and os.geteuid() == 0), *command],
                env=own,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def run(self, command: Sequence[str], *, is_unprivileged: bool = False) -> None:
        """Run a command to its end.

        Raises:
            AssertionError: it failed.
        """
        process = self.start(command, log="commands.log", is_unprivileged=is_unprivileged)
        if process.wait(60):
            raise AssertionError(f"{command} failed; {self.folder}/commands.log says why")

    def private_folder(self, name: str) -> Path:
        """A new folder for a server that does not run as root."""
        made = self.folder / name
        made.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(made, UID, UID)
        return made

    def write(self, path: str, text: str) -> None:
        """Write a file, which belongs to whom its folder does."""
        Path(path).write_text(text)
        owner = Path(path).parent.stat()
        os.chown(path, owner.st_uid, owner.st_gid)

    def kill(self) -> None:
        """Kill all processes (SIGKILL), and wait for their end."""
        while self._pids():
            for pid in self._pids():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        while self._started:
            self._started.pop().wait()

    def _pids(self) -> list[int]:
        return self._marked.pids()

    def _prefix(self, is_unprivileged: bool) -> list[str]:
        """What stands before a command, so that it runs here."""
        return ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"] * is_unprivileged
