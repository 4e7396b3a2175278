"""Connections that are kept: which, how many, and for how long."""

from __future__ import annotations

import socket
import ssl
from typing import Any

import pytest

from app.egress import Egress, keeping
from app.egress.keeping import KeptConnections
from app.policy.egress import KEPT_IDLE, KEPT_LIFE
from tests.egress.conftest import MakeReceiver
from tests.egress.receivers import Exchange, Receiver, answering, in_turn


class Connection:
    """One that stands until it is closed."""

    opened_at = used_at = 0.0
    is_open = True

    def close(self) -> None:
        self.is_open = False


@pytest.fixture(autouse=True)
def _no_polling(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "receiver" not in request.fixturenames:
        monkeypatch.setattr(keeping, "_is_usable", lambda connection: connection.is_open)


def _kept(kept: KeptConnections, *hosts: str) -> list[Any]:
    made = [(host, Connection()) for host in hosts]
    for host, connection in made:
        kept.release((host, 443), connection)  # type: ignore[arg-type]
    return [connection for _, connection in made]


def test_the_most_recently_used_connection_is_reused() -> None:
    kept = KeptConnections(4)
    first, second = _kept(kept, "a", "a")
    assert [kept.acquire(("a", 443)) for _ in range(3)] == [second, first, None]


def test_connections_are_kept_by_host_and_port() -> None:
    kept = KeptConnections(4)
    (connection,) = _kept(kept, "a")
    assert kept.acquire(("b", 443)) is None
    assert kept.acquire(("a", 8443)) is None
    assert kept.acquire(("a", 443)) is connection


def test_the_limit_for_a_host() -> None:
    connections = _kept(KeptConnections(2), "a", "a", "a", "b")
    assert [connection.is_open for connection in connections] == [False, True, True, True]


def test_the_limit_for_all_hosts() -> None:
    """The host that was called least recently loses first."""
    connections = _kept(KeptConnections(2, most=3), "a", "b", "a", "c")
    assert [connection.is_open for connection in connections] == [True, False, True, True]


def test_with_a_limit_of_zero_all_are_closed() -> None:
    connections = _kept(KeptConnections(0), "a", "b")
    assert [connection.is_open for connection in connections] == [False, False]


def test_a_closed_connection_is_skipped() -> None:
    kept = KeptConnections(4)
    first, second = _kept(kept, "a", "a")
    second.is_open = False
    assert kept.acquire(("a", 443)) is first


def test_close() -> None:
    kept = KeptConnections(4)
    before = _kept(kept, "a", "b")
    kept.close()
    after = _kept(kept, "a", "b")
    assert not any(connection.is_open for connection in [*before, *after])
    assert kept.acquire(("a", 443)) is None


@pytest.mark.parametrize(
    ("age", "connections"), [(KEPT_IDLE - 1, 1), (KEPT_IDLE + 1, 2), (KEPT_LIFE + 1, 2)]
)
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
    for connection in egress._kept._idle[("localhost", receiver.port)]:
        connection.opened_at -= KEPT_LIFE
    egress.post(receiver.url(), b"", {})
    assert receiver.connections == 2


def test_a_connection_with_unexpected_data_is_not_used(egress: Egress, receiver: Receiver) -> None:
    def chatter(exchange: Exchange) -> bool:
        answering()(exchange)
        exchange.receiver.pause(0.05)
        return answering(500)(exchange)

    receiver.answer = in_turn(chatter, answering())
    assert egress.post(receiver.url(), b"", {}).status == 200
    receiver.ended.wait(0.2)
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


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_connections_are_kept_with_each_version_of_tls(
    egress: Egress, receiver: Receiver, version: ssl.TLSVersion
) -> None:
    receiver.context.maximum_version = receiver.context.minimum_version = version
    for _ in range(3):
        assert egress.post(receiver.url(), b"", {}).status == 200
    assert receiver.connections == 1


def test_hosts_do_not_share(
    egress: Egress, receiver: Receiver, make_receiver: MakeReceiver
) -> None:
    other = make_receiver()
    for _ in range(2):
        egress.post(receiver.url(), b"", {})
        egress.post(receiver.url(host="hook.example"), b"", {})
        egress.post(other.url(), b"", {})
    assert (receiver.connections, other.connections) == (2, 1)


def _pass(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let time pass for connections that wait."""
    real = keeping.time.monotonic
    monkeypatch.setattr(keeping.time, "monotonic", lambda: real() + seconds)
