"""A Valkey that can be made to fail in every way that one does."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from app.processes import embedded
from tests.ports import free_port


class Valkey:
    """One server on a port of loopback, without anything on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        command = [str(embedded._binary()), "--bind", "127.0.0.1", "--port", str(self.port)]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self._folder)]
        with (self._folder / "valkey.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self.control = Redis(port=self.port, socket_timeout=2)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with contextlib.suppress(RedisError):
                self.control.ping()
                return
            time.sleep(0.02)
        raise AssertionError("Valkey does not start")

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        self.send(signal.SIGCONT)
        self.kill()
        self.control.close()


@contextlib.contextmanager
def valkey(folder: Path) -> Iterator[Valkey]:
    server = Valkey(folder)
    try:
        yield server
    finally:
        server.end()


@dataclass(frozen=True)
class Fault:
    """One way to fail: what brings it about, and what ends it.

    ``keeps_limits``: Valkey can be asked all the while, so that the limits hold on.
    """

    name: str
    description: str
    begin: Callable[[Valkey], Callable[[], None]]  # gives what ends it
    keeps_limits: bool = False


def _killed(server: Valkey) -> Callable[[], None]:
    server.kill()
    return server.start


def _hanging(server: Valkey) -> Callable[[], None]:
    server.send(signal.SIGSTOP)
    return lambda: server.send(signal.SIGCONT)


def _refusing(server: Valkey) -> Callable[[], None]:
    server.control.config_set("maxclients", 1)
    server.control.client_kill_filter(_type="normal", skipme=True)
    return lambda: server.control.config_set("maxclients", 10_000)


def _read_only(server: Valkey) -> Callable[[], None]:
    server.control.replicaof("127.0.0.1", 1)
    return lambda: server.control.replicaof("NO", "ONE")


def _full(server: Valkey) -> Callable[[], None]:
    server.control.config_set("maxmemory", 1)
    return lambda: server.control.config_set("maxmemory", 0)


def _flushed(server: Valkey) -> Callable[[], None]:
    over = threading.Event()

    def flush() -> None:
        while not over.wait(0.5):
            server.control.flushall()

    thread = threading.Thread(target=flush)
    thread.start()

    def end() -> None:
        over.set()
        thread.join()

    return end


VALKEY_FAULTS = (
    Fault("killed", "Valkey is killed, and restarted empty", _killed),
    Fault("hanging", "Valkey is paused (SIGSTOP), and continues", _hanging),
    Fault("refusing", "Valkey rejects new connections and closes the others", _refusing),
    Fault("read-only", "Valkey becomes a replica, and a master again", _read_only),
    Fault("full", "Valkey runs out of memory, and gets more", _full),
    Fault("flushed", "Valkey is flushed twice a second", _flushed, keeps_limits=True),
)
