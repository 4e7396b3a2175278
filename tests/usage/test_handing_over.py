"""What a process counts for itself while the store is down, and how the store gets it."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.core.store import Store, store
from app.usage import requests
from app.usage.jobs import write_counts
from tests.make import Client, make_account, second_app

DEAD = "redis://127.0.0.1:9/0"


def _current(client: Client) -> int:
    """What has been counted, without a request that would count."""
    with client.app.app_context():
        return requests.requests_on(client.account_id, [requests.today()])


def test_while_the_store_is_down_requests_pass_and_are_counted_later(app: Flask) -> None:
    """But for the one that finds it down: nobody knows whether the store had counted it."""
    with second_app(app, redis_url=DEAD) as cut_off:
        client = make_account(cut_off)
        for _ in range(4):
            assert client.get("/v1/account").status_code == 200
        assert _current(client) == 3
        cut_off.extensions["canopy_store"] = Store(lambda: app.config["SETTINGS"].redis_url)
        client.get("/v1/account")
        assert _current(client) == 4
        with app.app_context():
            kept = store().client.hget(requests.day_key(requests.today()), client.account_id)
        assert int(kept) == 4


def test_what_was_counted_without_the_store_is_added_to_what_the_database_has(
    client: Client,
) -> None:
    client.get("/v1/account")
    with client.app.app_context():
        write_counts()
    with client.app.app_context():
        store().client.flushdb()
        requests.count_here(client.account_id)
        requests.hand_over()
        assert requests.requests_on(client.account_id, [requests.today()]) == 2


def test_what_may_have_been_handed_over_is_not_handed_over_again(
    client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two accounts the first fails in the middle; the other one was not tried."""
    names = {client.account_id, stranger.account_id}
    with second_app(client.app) as made, made.app_context():
        for account_id in names:
            requests.count_here(account_id)
        with monkeypatch.context() as patch:
            patch.setattr(Store, "_on_own_connection", _times_out)
            requests.hand_over()
        left = {account_id for account_id, _ in requests._unsent}
        assert len(left & names) == 1
        requests._unsent.clear()


def _times_out(*_: Any) -> None:
    raise TimeoutError


def test_without_the_database_nothing_that_was_counted_here_is_lost(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any) -> None:
        raise OperationalError("SELECT", {}, Exception("gone"))

    with client.app.app_context():
        requests.count_here(client.account_id)
        with monkeypatch.context() as patch:
            patch.setattr(requests, "written_on", gone)
            with pytest.raises(OperationalError):
                requests.hand_over()
        requests.hand_over()
    assert _current(client) == 1


def test_one_request_does_not_hand_over_for_thousands_of_accounts(client: Client) -> None:
    names = [f"acct_{number}" for number in range(25)]
    with client.app.app_context():
        for name in names:
            requests.count_here(name)
        left = []
        for _ in range(3):
            requests.hand_over()
            left.append(len(requests._unsent))
        assert left == [15, 5, 0]
        store().client.hdel(requests.day_key(requests.today()), *names)
        store().client.srem(requests.CHANGED, *(f"{name} {requests.today()}" for name in names))
