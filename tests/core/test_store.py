"""A store that is down or hangs makes no request fail, and few wait."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator

import pytest
from flask import Flask
from redis import Redis

from app.core.store import PAUSE_SECONDS, TIMEOUT_SECONDS, Store
from tests.make import make_account, second_app


@pytest.fixture
def hanging() -> Iterator[str]:
    """The address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


def _seconds(store: Store) -> float:
    began = time.monotonic()
    assert store.attempt(Redis.ping) is None
    return time.monotonic() - began


def test_a_hanging_store_costs_a_quarter_of_a_second_and_then_nothing(hanging: str) -> None:
    store = Store(lambda: hanging)
    assert TIMEOUT_SECONDS <= _seconds(store) < TIMEOUT_SECONDS + 0.5
    assert _seconds(store) < 0.05
    assert store.is_down


def test_a_command_of_every_request_does_not_wait_longer(hanging: str) -> None:
    store = Store(lambda: hanging)
    began = time.monotonic()
    assert store.ask("PING") is None
    assert time.monotonic() - began < TIMEOUT_SECONDS + 0.5


def test_an_outage_is_logged_when_it_begins_and_when_it_ends(
    app: Flask, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = iter(["redis://127.0.0.1:9/0"] * 3)
    store = Store(lambda: next(addresses, app.config["SETTINGS"].redis_url))
    with caplog.at_level(logging.WARNING, logger="app.core.store"):
        for _ in range(3):
            assert store.attempt(Redis.ping) is None
            monkeypatch.setattr(store, "_try_again_at", 0.0)
        assert store.attempt(Redis.ping) is True
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]


def test_a_store_that_is_down_is_left_alone_for_a_second(app: Flask) -> None:
    asked = []

    def address() -> str:
        asked.append(time.monotonic())
        return "redis://127.0.0.1:9/0"

    store = Store(address)
    until = time.monotonic() + PAUSE_SECONDS + 0.3
    while time.monotonic() < until:
        assert store.attempt(Redis.ping) is None
        time.sleep(0.02)
    assert len(asked) == 2


def test_requests_pass_while_the_store_hangs(app: Flask, hanging: str) -> None:
    with second_app(app, redis_url=hanging) as stuck:
        client = make_account(stuck)
        began = time.monotonic()
        answers = [client.get("/v1/account").status_code for _ in range(5)]
        assert answers == [200] * 5
        assert time.monotonic() - began < 1
