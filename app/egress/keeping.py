"""Connections that are kept for the next request to their host."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque

from app.egress.securing import SecureConnection
from app.policy.egress import KEPT_CONNECTIONS, KEPT_IDLE, KEPT_LIFE

Place = tuple[str, int]  # host, port


class KeptConnections:
    """The connections that wait, at most so many; those of the host that was called least recently
    go first. Threads share it."""

    def __init__(self, per_host: int, most: int = KEPT_CONNECTIONS) -> None:
        self._per_host = per_host
        self._most = most
        self._count = 0
        self._is_closed = False
        self._lock = threading.Lock()
        self._places: OrderedDict[Place, deque[SecureConnection]] = OrderedDict()

    def take(self, place: Place) -> SecureConnection | None:
        """A connection to a place that seems to stand, or None."""
        while (connection := self._pop(place)) is not None:
            if _stands(connection):
                return connection
            connection.close()
        return None

    def keep(self, place: Place, connection: SecureConnection) -> None:
        """Have a connection wait, or close it where there are enough."""
        connection.used_at = time.monotonic()
        for surplus in self._put(place, connection):
            surplus.close()

    def close(self) -> None:
        """Close those that wait, and from now on any that comes."""
        with self._lock:
            self._is_closed = True
            waiting = [connection for some in self._places.values() for connection in some]
            self._places.clear()
            self._count = 0
        for connection in waiting:
            connection.close()

    def _pop(self, place: Place) -> SecureConnection | None:
        with self._lock:
            some = self._places.get(place)
            if not some:
                return None
            connection = some.pop()  # the one that was used last
            self._count -= 1
            if not some:
                del self._places[place]
            return connection

    def _put(self, place: Place, connection: SecureConnection) -> list[SecureConnection]:
        """Returns the connections that have no place any more."""
        with self._lock:
            some = self._places.setdefault(place, deque())
            self._places.move_to_end(place)
            some.append(connection)
            self._count += 1
            surplus = [some.popleft()] if len(some) > self._per_host else []
            self._count -= len(surplus)
            while self._count > (0 if self._is_closed else self._most):
                first, others = next(iter(self._places.items()))
                surplus.append(others.popleft())
                self._count -= 1
                if not others:
                    del self._places[first]
            return surplus


def _stands(connection: SecureConnection) -> bool:
    """Whether it is young enough, and its peer has neither closed it nor said anything unasked."""
    now = time.monotonic()
    if now - connection.used_at > KEPT_IDLE or now - connection.opened_at > KEPT_LIFE:
        return False
    return connection.is_silent()
