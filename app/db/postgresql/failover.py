"""Remembering which of several PostgreSQL hosts responded, so that a process waits for one that
vanished only once, and not for each connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.exc import DisconnectionError

Place = tuple[str, str]  # host and port


def places_of(parameters: Mapping[str, Any]) -> list[Place]:
    """The hosts that the parameters of a connection name, in their order."""
    hosts = str(parameters.get("host", "")).split(",")
    ports = str(parameters.get("port", "")).split(",")
    if len(hosts) != len(ports):
        return []
    return [(host, port or "5432") for host, port in zip(hosts, ports, strict=True)]


class KnownServer:
    """The server behind an address, as the engines find it that lead there."""

    def __init__(self) -> None:
        self._lost_opened_at = 0.0  # when the newest of the lost connections had been opened
        self._place: Place | None = None  # that responded last

    def on_opened(self, host: str, port: int) -> None:
        """A connection was opened."""
        self._place = (host, str(port))

    def on_lost(self, opened_at: float) -> None:
        """A connection was lost.

        Args:
            opened_at: when it had been opened, on the monotonic clock.
        """
        self._lost_opened_at = max(self._lost_opened_at, opened_at)

    def check(self, opened_at: float) -> None:
        """Have the pool replace a connection that is as old as one that was lost: it may lead to
        the same host, and would be waited for, too.

        Raises:
            sqlalchemy.exc.DisconnectionError: it is.
        """
        if opened_at <= self._lost_opened_at:
            raise DisconnectionError("as old as a connection that was lost")

    def last_first(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of a connection, with the host first that responded last: each one before
        it that is gone would be waited for."""
        places = places_of(parameters)
        if self._place not in places:
            return dict(parameters)
        places.sort(key=lambda place: place != self._place)  # stable
        ordered = {
            "host": ",".join(host for host, _ in places),
            "port": ",".join(port for _, port in places),
        }
        return {**parameters, **ordered}
