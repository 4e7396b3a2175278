"""Receivers on loopback addresses, and ways out that may reach them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from app.outbound import Egress
from tests.outbound.receivers import Authority, Receiver, make_authority

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
NAMES = ("localhost", "hook.example", "127.0.0.1", "127.0.0.2", "::1")

MakeEgress = Callable[..., Egress]
MakeReceiver = Callable[..., Receiver]


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return make_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def certificate(authority: Authority) -> Path:
    """For all names that the tests call."""
    return authority.certificate_for(NAMES)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as made:
        yield made


@pytest.fixture
def make_receiver(stack: ExitStack, certificate: Path) -> MakeReceiver:
    def make(certificate: Path = certificate, **options: Any) -> Receiver:
        return stack.enter_context(Receiver(certificate, **options))

    return make


@pytest.fixture
def receiver(make_receiver: MakeReceiver) -> Receiver:
    return make_receiver()


@pytest.fixture
def make_egress(stack: ExitStack, authority: Authority) -> MakeEgress:
    """A way out; every name leads to 127.0.0.1, and that may be called, unless a test says
    otherwise."""

    def make(**options: Any) -> Egress:
        defaults = {
            "allowed_networks": LOOPBACK,
            "ca_bundle": authority.ca_path,
            "resolve": lambda host: ["127.0.0.1"],
        }
        made = Egress(**{**defaults, **options})
        stack.callback(made.close)
        return made

    return make


@pytest.fixture
def egress(make_egress: MakeEgress) -> Egress:
    return make_egress()
