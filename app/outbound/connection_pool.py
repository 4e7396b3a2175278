"""Idle connections for the next request to their host."""

from __future__ import annotations

import threading
import time

from app.outbound.connection import Connection
from app.policy.egress import POOL_CONNECTIONS, POOL_IDLE, POOL_LIFE

Endpoint = tuple[str, int]  # host, port


class ConnectionPool:
    """A pool of idle connections, which threads share. When it is full, the least recently used one
    is closed."""

    def __init__(self, size: int = POOL_CONNECTIONS) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._idle: list[tuple[Endpoint, Connection]] = []  # the most recently used last

    def acquire(self, endpoint: Endpoint) -> Connection | None:
        """Return a connection that seems to be open, or None."""
        while (connection := self._pop(endpoint)) is not None:
            if _is_usable(connection):
                return connection
            connection.close()
        return None

    def release(self, endpoint: Endpoint, connection: Connection) -> None:
        """Put a connection into the pool."""
        connection.used_at = time.monotonic()
        with self._lock:
            self._idle.append((endpoint, connection))
        self._close_surplus()

    def close(self) -> None:
        """Close all idle connections, and from now on each that is released."""
        self._size = 0
        self._close_surplus()

    def _pop(self, endpoint: Endpoint) -> Connection | None:
        with self._lock:
            for index in reversed(range(len(self._idle))):
                if self._idle[index][0] == endpoint:
                    return self._idle.pop(index)[1]
        return None

    def _close_surplus(self) -> None:
        with self._lock:
            number = max(0, len(self._idle) - self._size)
            surplus, self._idle = self._idle[:number], self._idle[number:]
        for _, connection in surplus:
            connection.close()


def _is_usable(connection: Connection) -> bool:
    """True if the connection is young enough, and its peer has neither closed it nor sent data."""
    now = time.monotonic()
    if now - connection.used_at > POOL_IDLE or now - connection.opened_at > POOL_LIFE:
        return False
    return connection.is_silent()
