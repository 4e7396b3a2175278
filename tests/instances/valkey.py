"""A Valkey that can be killed, paused and started again."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from app.processes import embedded_valkey
from tests.ports import free_port


class Valkey:
    """One server on a port of loopback, without anything on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        command = [
            str(embedded_valkey._server_binary()),
            "--bind",
            "127.0.0.1",
            "--port",
            str(self.port),
        ]
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
