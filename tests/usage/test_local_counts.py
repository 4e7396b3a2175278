"""Requests that a process counts locally while Valkey is down, and sends to Valkey later."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from app.jobs.valkey import Valkey, valkey
from app.limits import request_counts
from app.usage.jobs import write_counts
from tests.jobs.due import run_if_due
from tests.make import Client, requests_today, second_app


@pytest.mark.both
def test_requests_counted_without_valkey_are_added_to_the_database(client: Client) -> None:
    client.get("/v1/account")
    with client.app.app_context():
        assert run_if_due(write_counts)
    with client.app.app_context():
        valkey().client.flushdb()
        request_counts.count_locally(client.account_id)
        request_counts.flush_local_counts()
    assert requests_today(client) == 2


@pytest.mark.slow
def test_counts_that_may_have_arrived_are_not_sent_again(
    client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two accounts, the first fails midway, and the second is not tried."""
    names = {client.account_id, stranger.account_id}
    with second_app(client.app) as made, made.app_context():
        for account_id in names:
            request_counts.count_locally(account_id)
        with monkeypatch.context() as patch:
            patch.setattr(Valkey, "_on_own_connection", _times_out)
            request_counts.flush_local_counts()
        left = {account_id for account_id, _ in request_counts._unsent}
        assert len(left & names) == 1
        request_counts._unsent.clear()


def _times_out(*_: Any) -> None:
    raise TimeoutError


def test_without_the_database_no_local_count_is_lost(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any) -> None:
        raise OperationalError("SELECT", {}, Exception("gone"))

    with client.app.app_context():
        request_counts.count_locally(client.account_id)
        with monkeypatch.context() as patch:
            patch.setattr(request_counts, "written_on", gone)
            with pytest.raises(OperationalError):
                request_counts.flush_local_counts()
        request_counts.flush_local_counts()
    assert requests_today(client) == 1


def test_one_request_does_not_flush_thousands_of_accounts(client: Client) -> None:
    names = [f"acct_{number}" for number in range(25)]
    with client.app.app_context():
        while request_counts._unsent:  # of tests before
            request_counts.flush_local_counts()
        for name in names:
            request_counts.count_locally(name)
        left = []
        for _ in range(3):
            request_counts.flush_local_counts()
            left.append(len(request_counts._unsent))
        assert left == [15, 5, 0]
        valkey().client.hdel(request_counts.day_key(request_counts.today_utc()), *names)
        valkey().client.srem(
            request_counts.CHANGED, *(f"{name} {request_counts.today_utc()}" for name in names)
        )
