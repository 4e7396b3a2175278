"""Remembering which of several PostgreSQL hosts responded, so that a process waits only once for a
host that has vanished."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.exc import DisconnectionError

Place = tuple[str, str]  # host and port


def places_of(parameters: Mapping[str, Any]) -> list[Place]:
    """Return the hosts in the parameters of a connection, in their order."""
    hosts = str(parameters.get("host", "")).split(",")
    ports = str(parameters.get("port", "")).split(",")
    if len(hosts) != len(ports):
        return []
    return [(host, port or "5432") for host, port in zip(hosts, ports, strict=True)]


class KnownServer:
    """The server behind a URL. Times are monotonic."""

    def __init__(self) -> None:
        self._lost_opened_at = 0.0  # when the newest lost connection was opened
        self._place: Place | None = None  # the one that responded last

    def on_opened(self, host: str, port: int) -> None:
        """Note that a connection was opened."""
        self._place = (host, str(port))

    def on_lost(self, opened_at: float) -> None:
        """Note that a connection was lost, which had been opened then."""
        self._lost_opened_at = max(self._lost_opened_at, opened_at)

    def check(self, opened_at: float) -> None:
        """Let the pool replace a connection that is as old as a lost one: it may lead to the same
        host, and would also be waited for.

        Raises:
            sqlalchemy.exc.DisconnectionError: it is as old.
        """
        if opened_at <= self._lost_opened_at:
            raise DisconnectionError("as old as a connection that was lost")

    def last_first(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a connection, beginning with the host that responded last: libpq
        would wait for each one before it that is gone."""
        places = places_of(parameters)
        if self._place not in places:
            return dict(parameters)
        places.sort(key=lambda place: place != self._place)  # stable
        ordered = {
            "host": ",".join(host for host, _ in places),
            "port": ",".join(port for _, port in places),
        }
        return {**parameters, **ordered}
