"""This machine, by an address that anybody may call otherwise."""

from __future__ import annotations

from ipaddress import IPv4Network, ip_address, ip_network

import pytest

from app.outbound import EgressError, addresses, connecting
from app.outbound.connecting import is_own
from app.policy.deliveries import FailureReason
from tests.outbound.conftest import LOOPBACK, MakeEgress
from tests.outbound.receivers import Receiver

FIRST, FURTHER = "127.0.0.1", "127.0.0.2"  # what comes to the further one comes from the first
OTHERS = "93.184.216.34"


@pytest.fixture
def _all_public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "NOT_PUBLIC_IPV4", (IPv4Network("10.0.0.0/8"),))


@pytest.mark.parametrize("addresses", [[FIRST], [FURTHER, "10.0.0.1"]])
@pytest.mark.usefixtures("_all_public")
def test_this_machine_is_not_called(
    make_egress: MakeEgress, receiver: Receiver, addresses: list[str]
) -> None:
    egress = make_egress(resolve=lambda host: addresses, allowed_networks=())
    with pytest.raises(EgressError) as failed:
        egress.post(receiver.url(), b"{}", {})
    assert failed.value.reason is FailureReason.NO_PUBLIC_ADDRESS
    assert receiver.connections == 0


@pytest.mark.usefixtures("_all_public")
def test_this_machine_is_called_if_its_address_is_allowed(
    make_egress: MakeEgress, receiver: Receiver
) -> None:
    egress = make_egress(allowed_networks=(ip_network(f"{FIRST}/32"),))
    assert egress.post(receiver.url(), b"{}", {}).status == 200


def test_this_machine_is_called_in_another_notation(
    make_egress: MakeEgress, receiver: Receiver
) -> None:
    egress = make_egress(allowed_networks=LOOPBACK, resolve=lambda host: [f"::ffff:{FIRST}"])
    assert egress.post(receiver.url(), b"{}", {}).status == 200


def test_is_own() -> None:
    for address in (FIRST, FURTHER, "::1"):
        assert is_own(ip_address(address))
    for address in (OTHERS, "2606:2800:220:1:248:1893:25c8:1946"):
        assert not is_own(ip_address(address))


def test_where_any_address_may_be_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_can_bind", lambda address: True)
    assert is_own(ip_address(FIRST))
    assert not is_own(ip_address(OTHERS))
