"""The registry of the instance's running processes, on all machines, with their SECRET_KEY.

Each web process and worker writes an entry to Valkey every few seconds, and removes it when it
ends. The entry of a killed process expires after ``EXPIRES_AFTER`` seconds.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import orjson
from redis import Redis
from redis.exceptions import RedisError

INTERVAL: Final = 5.0  # seconds between two entries of a process
EXPIRES_AFTER: Final = 15  # seconds
_NAMES: Final = "canopy:parts"


class RunningPart(NamedTuple):
    """A running process."""

    name: str  # "web server" or "worker"
    host: str
    pid: int
    key_check: str  # identifies its SECRET_KEY (app.security.sealing.key_check)


class Announcer:
    """Keeps the entry of this process: in a thread, or by calls of ``announce`` every ``INTERVAL``
    seconds. Errors of Valkey are ignored, as others log them and the next try comes soon."""

    def __init__(self, connect: Callable[[], Redis], name: str, key_check: str) -> None:
        self._connect = connect
        self._client: Redis | None = None
        self._part = RunningPart(name, socket.gethostname(), os.getpid(), key_check)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="announcer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and remove the entry, before the process ends."""
        self._stopped.set()
        self._thread.join(INTERVAL)
        self.withdraw()

    def announce(self) -> None:
        """Write the entry."""
        self._attempt(_announce_part)

    def withdraw(self) -> None:
        """Remove the entry."""
        self._attempt(_unregister_part)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self.announce()
            self._stopped.wait(INTERVAL)

    def _attempt(self, command: Callable[[Redis, RunningPart], None]) -> None:
        try:
            if self._client is None:
                self._client = self._connect()
            command(self._client, self._part)
        except (RedisError, OSError):
            self._client = None


def wait_for_entries(client: Redis) -> None:
    """Wait until each part has had time to write its entry since Valkey started. Raises RedisError
    or OSError."""
    server: Any = client.info("server")
    time.sleep(max(0.0, INTERVAL + 1 - server["uptime_in_seconds"]))


def running_parts(client: Redis) -> list[RunningPart]:
    """Return the running parts, sorted. Raises RedisError or OSError."""
    names: Any = client.smembers(_NAMES)
    if not names:
        return []
    ordered = sorted(names)
    entries: Any = client.mget(ordered)
    expired = [name for name, entry in zip(ordered, entries, strict=True) if entry is None]
    if expired:
        client.srem(_NAMES, *expired)
    return sorted(RunningPart(**orjson.loads(entry)) for entry in entries if entry is not None)


def _announce_part(client: Redis, part: RunningPart) -> None:
    name = _part_entry(part)
    with client.pipeline() as pipeline:
        pipeline.set(name, orjson.dumps(part._asdict()), ex=EXPIRES_AFTER)
        pipeline.sadd(_NAMES, name)
        pipeline.execute()


def _unregister_part(client: Redis, part: RunningPart) -> None:
    client.delete(_part_entry(part))
    client.srem(_NAMES, _part_entry(part))


def _part_entry(part: RunningPart) -> str:
    return f"canopy:part:{part.host}:{part.pid}:{part.name}"
