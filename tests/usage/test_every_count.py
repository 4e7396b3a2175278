"""A request counts for its account and for its credential: both counts are kept alike
(docs/adr/0008-request-counts.md)."""

from __future__ import annotations

import pytest
from flask import Flask

from app.jobs.valkey import Valkey, valkey
from app.limits import request_counts
from app.usage.jobs import write_counts
from tests.make import Client, make_account, make_key, second_app, together

DEAD = "redis://127.0.0.1:9/0"


def _use(caller: Client) -> None:
    assert caller.get("/v1/account").status_code == 200


def _counts(client: Client) -> tuple[int, int]:
    """Today's counts of the account and of the client's key, read without a request that would be
    counted."""
    days, key = [request_counts.today_utc()], client.credential_id
    with client.app.app_context():
        by_key = request_counts.requests_by_credential(client.account_id, [key], days, 0)
        return (
            request_counts.requests_on(client.account_id, days),
            sum(by_key.get(key, {}).values()),
        )


def _write(client: Client) -> None:
    with client.app.app_context():
        write_counts()


def _empty_valkey(client: Client) -> None:
    with client.app.app_context():
        valkey().client.flushdb()


@pytest.mark.both
def test_requests_of_many_threads_are_counted_exactly(client: Client) -> None:
    together(*[lambda: [_use(client) for _ in range(10)]] * 8)
    assert _counts(client) == (80, 80)


@pytest.mark.both
def test_when_valkey_loses_its_data_only_pending_counts_are_lost(client: Client) -> None:
    for _ in range(3):
        _use(client)
    _write(client)
    _use(client)
    assert _counts(client) == (4, 4)
    _empty_valkey(client)
    assert _counts(client) == (3, 3)
    make_key(client).get("/v1/account")  # the account's counter is there again, this key's are not
    _use(client)
    assert _counts(client) == (5, 4)
    _write(client)
    _empty_valkey(client)
    assert _counts(client) == (5, 4)


def test_while_valkey_is_down_requests_are_counted_later(app: Flask) -> None:
    """Except the one that found Valkey down: it is unknown whether Valkey counted it."""
    with second_app(app, redis_url=DEAD) as cut_off:
        client = make_account(cut_off)
        for _ in range(4):
            _use(client)
        assert _counts(client) == (3, 3)
        cut_off.extensions["canopy_valkey"] = Valkey(lambda: app.config["SETTINGS"].redis_url)
        client.get("/v1/account")
        assert _counts(client) == (4, 4)
        with app.app_context():
            kept = valkey().client.hget(
                request_counts.day_key(request_counts.today_utc()), client.account_id
            )
        assert int(kept) == 4
