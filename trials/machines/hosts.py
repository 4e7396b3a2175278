"""Hosts as network namespaces, on one bridge: places where processes run, which can all be killed
at once or cut off.

All of it lies in namespaces of its own: nothing is seen outside, and all ends with the process that
was started by ``enter``.
"""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from config import ROOT

UID = pwd.getpwnam("nobody").pw_uid  # PostgreSQL and pgbouncer do not run as root
BRIDGE = "canopy0"
CLIENT = "10.0.0.100"  # where this process is
INSIDE = "CANOPY_MACHINES_INSIDE"  # set in the process that ``enter`` starts


def enter() -> NoReturn:
    """Run this command again in namespaces of its own, which end with it."""
    unshare = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command = [sys.executable, "-m", "trials.machines", *sys.argv[1:]]
    os.chdir(ROOT)
    os.execvpe("unshare", ["unshare", *unshare, *command], os.environ | {INSIDE: "1"})


def make_bridge() -> None:
    """The bridge on which all hosts are, with this process at ``CLIENT``."""
    _run("mount", "-t", "tmpfs", "tmpfs", "/run")
    for command in (
        "link set lo up",
        f"link add {BRIDGE} type bridge",
        f"addr add {CLIENT}/24 dev {BRIDGE}",
        f"link set {BRIDGE} up",
    ):
        _run("ip", *command.split())


class Host:
    """A host with an address, a link and a folder of its own."""

    def __init__(self, name: str, address: str, folder: Path) -> None:
        self.name, self.address, self.folder = name, address, folder
        self._started: list[subprocess.Popen[bytes]] = []
        folder.mkdir(parents=True)
        for command in (
            f"netns add {name}",
            f"link add {name} type veth peer name eth0 netns {name}",
            f"link set {name} master {BRIDGE}",
            f"link set {name} up",
            f"-n {name} addr add {address}/24 dev eth0",
            f"-n {name} link set lo up",
            f"-n {name} link set eth0 up",
        ):
            _run("ip", *command.split())

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
        own = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **(environ or {})}
        user = [f"--setuid={UID}", f"--setgid={UID}"] if is_unprivileged else []
        with (self.folder / log).open("ab") as output:
            process = subprocess.Popen(
                ["nsenter", f"--net=/run/netns/{self.name}", *user, *command],
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

    def cut(self) -> None:
        """Take its link down: nothing arrives or leaves, and nobody is told."""
        _run("ip", "link", "set", self.name, "down")

    def join(self) -> None:
        """Bring its link up again."""
        _run("ip", "link", "set", self.name, "up")

    def drop_replies_to(self, *addresses: str) -> None:
        """Receive what these send, and let nothing get back to them."""
        for address in addresses:
            _run("ip", "-n", self.name, "route", "add", "blackhole", address)

    def reply_to(self, *addresses: str) -> None:
        """The end of ``drop_replies_to``."""
        for address in addresses:
            _run("ip", "-n", self.name, "route", "del", "blackhole", address)

    def set_kernel(self, settings: Mapping[str, str]) -> None:
        """Set what ``sysctl`` sets, for this host."""
        for name, value in settings.items():
            path = f"/proc/sys/{name.replace('.', '/')}"
            _run("ip", "netns", "exec", self.name, "sh", "-c", f"echo {value} > {path}")

    def remove(self) -> None:
        """Kill its processes, and take it out of the network."""
        self.kill()
        _run("ip", "netns", "del", self.name)
        with suppress(subprocess.CalledProcessError):
            _run("ip", "link", "del", self.name)  # it may have gone with its peer

    def _pids(self) -> list[int]:
        found = subprocess.run(
            ["ip", "netns", "pids", self.name], capture_output=True, text=True, check=True
        )
        return [pid for pid in map(int, found.stdout.split()) if not _is_dead(pid)]


def _is_dead(pid: int) -> bool:
    """Whether a process is gone, or waits for its parent to hear of its end."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    return True


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
