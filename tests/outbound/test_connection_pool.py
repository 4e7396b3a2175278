"""Connections that are pool: which, how many, and for how long."""

from __future__ import annotations

import socket
import ssl
import threading
from typing import Any

import pytest

from app.outbound import Egress, connection_pool
from app.outbound.connection_pool import ConnectionPool
from app.policy.egress import POOL_IDLE, POOL_LIFE
from tests.outbound.receivers import Exchange, Receiver, answering, in_turn
from tests.waiting import PATIENCE


class Connection:
    """One that stands until it is closed."""

    opened_at = used_at = 0.0
    is_open = True

    def close(self) -> None:
        self.is_open = False


@pytest.fixture(autouse=True)
def _no_polling(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "receiver" not in request.fixturenames:
        monkeypatch.setattr(connection_pool, "_is_usable", lambda connection: connection.is_open)


def _released(pool: ConnectionPool, *hosts: str) -> list[Any]:
    made = [(host, Connection()) for host in hosts]
    for host, connection in made:
        pool.release((host, 443), connection)  # type: ignore[arg-type]
    return [connection for _, connection in made]


def test_the_most_recently_used_connection_is_reused() -> None:
    pool = ConnectionPool()
    first, second = _released(pool, "a", "a")
    assert [pool.acquire(("a", 443)) for _ in range(3)] == [second, first, None]


def test_connections_are_kept_by_host_and_port() -> None:
    pool = ConnectionPool()
    (connection,) = _released(pool, "a")
    assert pool.acquire(("b", 443)) is None
    assert pool.acquire(("a", 8443)) is None
    assert pool.acquire(("a", 443)) is connection


def test_the_connection_used_least_recently_is_closed_when_the_pool_is_full() -> None:
    connections = _released(ConnectionPool(3), "a", "b", "a", "c", "a")
    assert [connection.is_open for connection in connections] == [False, False, True, True, True]


def test_a_closed_connection_is_skipped() -> None:
    pool = ConnectionPool()
    first, second = _released(pool, "a", "a")
    second.is_open = False
    assert pool.acquire(("a", 443)) is first


def test_close() -> None:
    pool = ConnectionPool()
    before = _released(pool, "a", "b")
    pool.close()
    after = _released(pool, "a", "b")
    assert not any(connection.is_open for connection in [*before, *after])
    assert pool.acquire(("a", 443)) is None


@pytest.mark.parametrize(("age", "connections"), [(POOL_IDLE - 1, 1), (POOL_IDLE + 1, 2)])
def test_a_connection_that_was_idle_for_long_is_not_used(
    egress: Egress,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    age: float,
    connections: int,
) -> None:
    egress.post(receiver.url(), b"", {})
    _pass(monkeypatch, age)
    egress.post(receiver.url(), b"", {})
    assert receiver.connections == connections


def test_an_old_connection_is_not_used(
    egress: Egress, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    egress.post(receiver.url(), b"", {})
    for _, connection in egress._pool._idle:
        connection.opened_at -= POOL_LIFE
    egress.post(receiver.url(), b"", {})
    assert receiver.connections == 2


def test_a_connection_with_unexpected_data_is_not_used(egress: Egress, receiver: Receiver) -> None:
    said = threading.Event()

    def chatter(exchange: Exchange) -> bool:
        answering()(exchange)
        exchange.receiver.pause(0.05)
        stays_open = answering(500)(exchange)
        said.set()
        return stays_open

    receiver.answer = in_turn(chatter, answering())
    assert egress.post(receiver.url(), b"", {}).status == 200
    assert said.wait(PATIENCE)
    assert egress.post(receiver.url(), b"", {}).status == 200
    assert receiver.connections == 2


def test_a_connection_with_data_after_the_response_is_not_used(
    egress: Egress, receiver: Receiver
) -> None:
    def chatter(exchange: Exchange) -> bool:
        exchange.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        answering()(exchange)
        answering(500)(exchange)
        exchange.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
        return True

    receiver.answer = in_turn(chatter, answering())
    assert egress.post(receiver.url(), b"", {}).status == 200
    assert egress.post(receiver.url(), b"", {}).status == 200
    assert receiver.connections == 2


def test_connections_are_kept_with_tls_1_2(egress: Egress, receiver: Receiver) -> None:
    """Those of all other tests have 1.3."""
    receiver.context.maximum_version = ssl.TLSVersion.TLSv1_2
    for _ in range(3):
        assert egress.post(receiver.url(), b"", {}).status == 200
    assert receiver.connections == 1


def _pass(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let time pass for connections that wait."""
    real = connection_pool.time.monotonic
    monkeypatch.setattr(connection_pool.time, "monotonic", lambda: real() + seconds)
