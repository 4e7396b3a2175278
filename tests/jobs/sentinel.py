"""Three Sentinels, a primary and a replica, on ports of loopback."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from redis import Redis
from redis.exceptions import RedisError

from app.processes import embedded_valkey
from tests.ports import free_port
from tests.waiting import PATIENCE, wait_for

NAME = "forests"
# Milliseconds without an answer until a Sentinel thinks that a server is down; only after a fault,
# for on a busy machine one that lives does not answer for a while either.
DOWN_AFTER = 2000
NEVER = 3_600_000
_SENTINEL = """\
port {port}
bind 127.0.0.1
dir {folder}
sentinel monitor {name} 127.0.0.1 {primary} 2
sentinel down-after-milliseconds {name} {down_after}
sentinel failover-timeout {name} 1000
"""
_PASSWORDS = """\
sentinel auth-pass {name} "{password}"
sentinel sentinel-pass "{sentinel_password}"
requirepass "{sentinel_password}"
"""


class Server:
    """A server or a Sentinel: its process, and a connection that no test breaks."""

    def __init__(self, folder: Path, port: int, password: str | None, *options: str) -> None:
        self.port = port
        self._command = [str(embedded_valkey._server_binary()), *options]
        self._log = folder / f"{port}.log"
        self.control: Any = Redis(port=port, password=password, socket_timeout=PATIENCE)
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log)
        wait_for(self._responds)

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.send(signal.SIGCONT)
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        self.kill()
        self.control.close()

    def _responds(self) -> bool:
        with contextlib.suppress(RedisError):
            return bool(self.control.ping())
        return False


class Group:
    """``url`` is what REDIS_URL has to be."""

    def __init__(
        self, folder: Path, password: str | None = None, sentinel_password: str | None = None
    ) -> None:
        self._password, self._sentinel_password = password, sentinel_password
        self.servers: list[Server] = []
        self.sentinels: list[Server] = []
        self._folder = folder
        try:
            self._start()
        except BaseException:
            self.end()
            raise
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        self.url = f"redis+sentinel://{hosts}/{NAME}/3"
        if password and sentinel_password:
            user, own = quote(password, safe=""), quote(sentinel_password, safe="")
            self.url = f"redis+sentinel://:{user}@{hosts}/{NAME}/3?sentinel_password={own}"

    @property
    def primary_port(self) -> int:
        """The port of the primary, as the first Sentinel that responds knows it."""
        (_, port) = self.sentinels[0].control.sentinel_get_master_addr_by_name(NAME)
        return int(port)

    @property
    def primary(self) -> Server:
        port = self.primary_port
        (found,) = (server for server in self.servers if server.port == port)
        return found

    def wait_for_failover(
        self, former: Server, meanwhile: Callable[[], object] = lambda: None
    ) -> None:
        """Wait until the Sentinels have agreed on another primary, and call ``meanwhile``."""

        def is_done() -> bool:
            meanwhile()
            return self.primary_port != former.port

        self._set_down_after(DOWN_AFTER)
        # Sentinels that got no turn for 2 seconds do nothing for the next 30.
        wait_for(is_done, 2 * PATIENCE)
        self._set_down_after(NEVER)

    def _set_down_after(self, milliseconds: int) -> None:
        for sentinel in self.sentinels:
            sentinel.control.sentinel_set(NAME, "down-after-milliseconds", milliseconds)

    def end(self) -> None:
        for process in (*self.sentinels, *self.servers):
            process.end()

    def _start(self) -> None:
        primary = self._server()
        self.servers.append(primary)
        self.servers.append(self._server("--replicaof", f"127.0.0.1 {primary.port}"))
        wait_for(lambda: self.servers[1].control.info()["master_link_status"] == "up")
        for _ in range(3):
            self.sentinels.append(self._sentinel(primary.port))
        wait_for(lambda: all(map(_knows_the_others, self.sentinels)))

    def _server(self, *options: str) -> Server:
        port = free_port()
        folder = self._folder / str(port)
        folder.mkdir()
        common = ["--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder), "--save", ""]
        common += ["--repl-diskless-sync-delay", "0"]
        if self._password:
            common += ["--requirepass", self._password, "--masterauth", self._password]
        return Server(self._folder, port, self._password, *common, *options)

    def _sentinel(self, primary: int) -> Server:
        port = free_port()
        file = self._folder / f"sentinel-{port}.conf"
        text = _SENTINEL + (_PASSWORDS if self._sentinel_password else "")
        values = {"password": self._password, "sentinel_password": self._sentinel_password}
        values |= {"folder": self._folder, "name": NAME, "down_after": NEVER}
        file.write_text(text.format(port=port, primary=primary, **values))
        return Server(self._folder, port, self._sentinel_password, str(file), "--sentinel")


@contextlib.contextmanager
def sentinel_group(folder: Path, **passwords: str) -> Iterator[Group]:
    """Args: ``password`` of the servers, and ``sentinel_password``."""
    group = Group(folder, **passwords)
    try:
        yield group
    finally:
        group.end()


def _knows_the_others(sentinel: Server) -> bool:
    state = sentinel.control.sentinel_master(NAME)
    return bool(state["num-other-sentinels"] == 2 and state["num-slaves"] == 1)
