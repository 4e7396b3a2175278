"""Idle connections, kept for the next request to their host."""

from __future__ import annotations

import threading
import time

from app.outbound.connection import Connection
from app.policy.egress import POOL_CONNECTIONS, POOL_IDLE, POOL_LIFE

Endpoint = tuple[str, int]  # host, port


class ConnectionPool:
    """A pool of idle connections. When it is full, the one that was used least recently is closed.
    Threads share it."""

    def __init__(self, most: int = POOL_CONNECTIONS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._idle: list[tuple[Endpoint, Connection]] = []  # the most recently used one last

    def acquire(self, endpoint: Endpoint) -> Connection | None:
        """A connection that seems to be open, or None."""
        while (connection := self._pop(endpoint)) is not None:
            if _is_usable(connection):
                return connection
            connection.close()
        return None

    def release(self, endpoint: Endpoint, connection: Connection) -> None:
        """Keep a connection."""
        connection.used_at = time.monotonic()
        with self._lock:
            self._idle.append((endpoint, connection))
        self._close_surplus()

    def close(self) -> None:
        """Close all idle connections, and from now on every one that is released."""
        self._most = 0
        self._close_surplus()

    def _pop(self, endpoint: Endpoint) -> Connection | None:
        with self._lock:
            for place in reversed(range(len(self._idle))):
                if self._idle[place][0] == endpoint:
                    return self._idle.pop(place)[1]
        return None

    def _close_surplus(self) -> None:
        with self._lock:
            number = max(0, len(self._idle) - self._most)
            surplus, self._idle = self._idle[:number], self._idle[number:]
        for _, connection in surplus:
            connection.close()


def _is_usable(connection: Connection) -> bool:
    """Return whether it is young enough, and its peer has neither closed it nor sent anything."""
    now = time.monotonic()
    if now - connection.used_at > POOL_IDLE or now - connection.opened_at > POOL_LIFE:
        return False
    return connection.is_silent()
