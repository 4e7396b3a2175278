"""Idle connections, kept for the next request to their host."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque

from app.outbound.connection import Connection
from app.policy.egress import POOL_CONNECTIONS, POOL_IDLE, POOL_LIFE

Endpoint = tuple[str, int]  # host, port


class ConnectionPool:
    """A pool of idle connections, limited in number; those of the host that was called least
    recently are closed first. Threads share it."""

    def __init__(self, per_host: int, most: int = POOL_CONNECTIONS) -> None:
        self._per_host = per_host
        self._most = most
        self._count = 0
        self._is_closed = False
        self._lock = threading.Lock()
        self._idle: OrderedDict[Endpoint, deque[Connection]] = OrderedDict()

    def acquire(self, endpoint: Endpoint) -> Connection | None:
        """A connection that seems to be open, or None."""
        while (connection := self._pop(endpoint)) is not None:
            if _is_usable(connection):
                return connection
            connection.close()
        return None

    def release(self, endpoint: Endpoint, connection: Connection) -> None:
        """Keep a connection, or close it if there are enough."""
        connection.used_at = time.monotonic()
        for surplus in self._put(endpoint, connection):
            surplus.close()

    def close(self) -> None:
        """Close all idle connections, and from now on every one that is released."""
        with self._lock:
            self._is_closed = True
            idle = [connection for some in self._idle.values() for connection in some]
            self._idle.clear()
            self._count = 0
        for connection in idle:
            connection.close()

    def _pop(self, endpoint: Endpoint) -> Connection | None:
        with self._lock:
            some = self._idle.get(endpoint)
            if not some:
                return None
            connection = some.pop()  # the most recently used one
            self._count -= 1
            if not some:
                del self._idle[endpoint]
            return connection

    def _put(self, endpoint: Endpoint, connection: Connection) -> list[Connection]:
        """Returns connections to close."""
        with self._lock:
            some = self._idle.setdefault(endpoint, deque())
            self._idle.move_to_end(endpoint)
            some.append(connection)
            self._count += 1
            surplus = [some.popleft()] if len(some) > self._per_host else []
            self._count -= len(surplus)
            while self._count > (0 if self._is_closed else self._most):
                first, others = next(iter(self._idle.items()))
                surplus.append(others.popleft())
                self._count -= 1
                if not others:
                    del self._idle[first]
            return surplus


def _is_usable(connection: Connection) -> bool:
    """Return whether it is young enough, and its peer has neither closed it nor sent anything."""
    now = time.monotonic()
    if now - connection.used_at > POOL_IDLE or now - connection.opened_at > POOL_LIFE:
        return False
    return connection.is_silent()
