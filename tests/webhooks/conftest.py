"""An instance that delivers to receivers on this machine, with nothing else to deliver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from flask import Flask

from app.values import clock
from tests.make import Client, make_account, second_app
from tests.outbound.conftest import LOOPBACK
from tests.outbound.conftest import authority as authority
from tests.outbound.conftest import certificate as certificate
from tests.outbound.receivers import Authority, Receiver
from tests.webhooks.job import deliver_due, forget_deliveries

Later = Callable[[timedelta], None]
Deliver = Callable[..., int]
MakeReceiver = Callable[[], Receiver]


@pytest.fixture(scope="session")
def delivering_app(app: Flask, authority: Authority) -> Iterator[Flask]:
    """The application, which may reach this machine and trusts its receivers."""
    ways = {"webhook_allowed_networks": LOOPBACK, "webhook_ca_bundle": authority.ca_path}
    with second_app(app, **ways) as made:
        yield made


@pytest.fixture
def delivering(delivering_app: Flask) -> Flask:
    """The same, with nothing to deliver that other tests left."""
    forget_deliveries(delivering_app)
    return delivering_app


@pytest.fixture
def customer(delivering: Flask) -> Client:
    """A caller in an account of its own."""
    return make_account(delivering)


@pytest.fixture
def make_receiver(certificate: Path) -> Iterator[MakeReceiver]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Receiver(certificate))


@pytest.fixture
def receiver(make_receiver: MakeReceiver) -> Receiver:
    return make_receiver()


@pytest.fixture
def deliver(delivering: Flask) -> Deliver:
    """``deliver_due``, of that application."""
    return partial(deliver_due, delivering)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """Stops the clock, and moves it on by so much with each call."""
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)

    def move(by: timedelta) -> None:
        nonlocal moment
        moment += by

    return move
