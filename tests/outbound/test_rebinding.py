"""Names that change their address between two looks, or have several: what is private gets
nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from app.outbound import Egress, EgressError
from app.outbound.resolving import Resolve
from app.policy.deliveries import FailureReason
from tests.outbound.conftest import MakeEgress, MakeReceiver
from tests.outbound.receivers import Authority, Listener, Receiver, answering

PUBLIC, PRIVATE = "127.0.0.2", "127.0.0.1"  # for these tests
ALLOWED = (ip_network(f"{PUBLIC}/32"),)


@pytest.fixture
def inside() -> Iterator[Listener]:
    """What must not be reached."""
    with Listener(address=PRIVATE) as listener:
        yield listener


@pytest.fixture
def outside(make_receiver: MakeReceiver, inside: Listener) -> Receiver:
    """A receiver at the same port of another address."""
    return make_receiver(address=PUBLIC, port=inside.port)


def _in_turn(*answers: list[str]) -> Resolve:
    """A name server that says something else each time, and the last thing for ever."""
    left = list(answers)
    return lambda host: left.pop(0) if len(left) > 1 else left[0]


def _refused(egress: Egress, url: str) -> bool:
    with pytest.raises(EgressError) as failed:
        egress.post(url, b"{}", {}, seconds=60)
    return failed.value.reason is FailureReason.NO_PUBLIC_ADDRESS


def test_the_address_that_was_checked_is_the_one_that_is_called(
    make_egress: MakeEgress, outside: Receiver, inside: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rebind(*_: Any, **__: Any) -> Any:
        raise AssertionError("somebody looked again")

    monkeypatch.setattr(socket, "getaddrinfo", rebind)
    egress = make_egress(resolve=_in_turn([PUBLIC], [PRIVATE]), allowed_networks=ALLOWED)
    assert egress.post(outside.url(), b"{}", {}).status == 200
    assert len(outside.requests) == 1
    assert inside.connections == 0


def test_a_second_lookup_is_checked_again(
    make_egress: MakeEgress, outside: Receiver, inside: Listener
) -> None:
    outside.answer = answering(headers={"Connection": "close"})
    egress = make_egress(resolve=_in_turn([PUBLIC], [PRIVATE]), allowed_networks=ALLOWED)
    assert egress.post(outside.url(), b"{}", {}).status == 200
    assert _refused(egress, outside.url())
    assert inside.connections == 0


def test_after_a_kept_connection_the_address_is_checked_again(
    make_egress: MakeEgress, outside: Receiver, inside: Listener
) -> None:
    egress = make_egress(resolve=_in_turn([PUBLIC], [PRIVATE]), allowed_networks=ALLOWED)
    egress.post(outside.url(), b"{}", {})
    outside.close_connections()
    assert _refused(egress, outside.url())
    assert inside.connections == 0


def test_of_a_public_and_a_private_address_only_the_public_one_is_called(
    make_egress: MakeEgress, outside: Receiver, inside: Listener
) -> None:
    egress = make_egress(resolve=lambda host: [PRIVATE, PUBLIC], allowed_networks=ALLOWED)
    assert egress.post(outside.url(), b"{}", {}).status == 200
    outside.close()
    with pytest.raises(EgressError) as failed:
        egress.post(outside.url(), b"{}", {})
    assert failed.value.reason is FailureReason.REFUSED
    assert inside.connections == 0


def test_a_name_with_an_allowed_and_another_private_address(
    make_egress: MakeEgress, make_receiver: MakeReceiver, authority: Authority
) -> None:
    """As with an operator's own name servers, where only the IPv4 network is allowed."""
    receiver = make_receiver(authority.certificate_for(["hook"]))
    egress = make_egress(
        resolve=lambda _: ["fd00::1", PRIVATE], allowed_networks=(ip_network("127.0.0.0/8"),)
    )
    assert egress.post(receiver.url(host="hook"), b"{}", {}).status == 200


def test_a_refused_connection_is_not_followed_by_another_lookup(
    make_egress: MakeEgress, inside: Listener
) -> None:
    egress = make_egress(resolve=_in_turn([PUBLIC], [PRIVATE]), allowed_networks=ALLOWED)
    with pytest.raises(EgressError) as failed:
        egress.post(inside.url(), b"{}", {})
    assert failed.value.reason is FailureReason.REFUSED
    assert inside.connections == 0


def test_a_redirect_inside_is_not_followed(
    make_egress: MakeEgress, outside: Receiver, inside: Listener
) -> None:
    outside.answer = answering(307, headers={"Location": inside.url(host=PRIVATE)})
    egress = make_egress(resolve=lambda host: [PUBLIC], allowed_networks=ALLOWED)
    assert egress.post(outside.url(), b"{}", {}).status == 307
    assert inside.connections == 0


def test_a_peer_with_an_unchecked_address_gets_nothing(
    make_egress: MakeEgress, outside: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something between, such as a library that sends connections through a proxy."""
    monkeypatch.setattr(socket.socket, "getpeername", lambda self: (PRIVATE, 443), raising=False)
    egress = make_egress(resolve=lambda host: [PUBLIC], allowed_networks=ALLOWED)
    with pytest.raises(EgressError) as failed:
        egress.post(outside.url(), b"{}", {})
    assert failed.value.reason is FailureReason.UNREACHABLE
    assert outside.requests == []
