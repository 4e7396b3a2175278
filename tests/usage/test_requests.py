"""``api_requests``: which requests are counted, and that none is lost or counted twice
(docs/adr/0008-request-counts.md)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.db.extensions import db
from app.jobs.valkey import valkey
from app.limits import request_counts
from app.usage import jobs
from app.usage.jobs import write_counts
from app.values import clock
from tests.make import Client, make_key, requests_today


def _write(app: Flask) -> int:
    with app.app_context():
        try:
            return write_counts()
        finally:
            db.session.rollback()


@pytest.fixture
def _nothing_pending(app: Flask) -> Iterator[None]:
    """No counts are pending before a test or after it, nor any of an outage in other tests."""
    request_counts._unsent.clear()
    _write(app)
    yield
    _write(app)


def test_every_answered_request_with_a_credential_counts(client: Client) -> None:
    requests = (
        ("GET", "/v1/account"),
        ("HEAD", "/v1/projects"),
        ("GET", "/v1/auth/verify"),
        ("POST", "/v1/projects"),
        ("GET", "/v1/projects/x"),
        ("GET", "/v1/nothing"),
        ("GET", "/v1/openapi.json"),
        ("DELETE", "/v1/projects"),
    )
    for number, (method, path) in enumerate(requests, 1):
        client.send(method, path)
        assert requests_today(client) == number, path
    make_key(client, permissions=["members:read"]).get("/v1/projects")
    assert requests_today(client) == len(requests) + 1


def test_other_requests_do_not_count(client: Client) -> None:
    for path in ("/healthz", "/api/health", "/docs", "/v2/x"):
        client.get(path)
    client.nobody().get("/v1/projects")
    assert requests_today(client) == 0


def test_usage_includes_the_current_request(client: Client) -> None:
    for _ in range(3):
        client.get("/v1/account")
    usage = client.get("/v1/account/usage").json["data"]
    assert usage["api_requests"]["current"] == 4


@pytest.mark.both
def test_days_are_counted_separately_and_summed_by_month(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = ["2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00.000Z", "2026-02-28T23:59:59.999Z"]
    found = []
    for moment in moments:
        monkeypatch.setattr(clock, "now", lambda m=moment: clock.parse_time(m))
        usage = client.get("/v1/account/usage").json["data"]
        found.append(usage["api_requests"]["current"])
        _write(client.app)  # Valkey forgets after KEPT_SECONDS
    assert found == [1, 1, 2]


def _rows(client: Client) -> int:
    """Today's rows in the database."""
    with client.app.app_context():
        return request_counts.written_on(client.account_id, request_counts.today_utc())


@pytest.mark.both
@pytest.mark.usefixtures("_nothing_pending")
def test_the_job_copies_counts_without_changing_the_sum(client: Client) -> None:
    for number in (3, 2):
        for _ in range(number):
            client.get("/v1/account")
        before = requests_today(client)
        assert _write(client.app) == 2  # that of the account, and that of its key
        assert requests_today(client) == before == _rows(client)
    assert requests_today(client) == 5
    assert _write(client.app) == 0


class Died(Exception):
    """The process was killed."""


# Where the job is killed: before the transaction, at its commit, after it, and at the end.
DEATHS = {
    "before writing": ("app.usage.jobs._write_days", None),
    "before the commit": ("commit", "before"),
    "after the commit": ("commit", "after"),
    "before the counters are off the list": ("app.usage.jobs._mark_copied", None),
}


@pytest.mark.both
@pytest.mark.slow
@pytest.mark.parametrize("place", DEATHS)
@pytest.mark.usefixtures("_nothing_pending")
def test_a_killed_job_neither_loses_nor_doubles_counts(client: Client, place: str) -> None:
    for _ in range(3):
        client.get("/v1/account")
    with pytest.MonkeyPatch.context() as patch:
        _kill(patch, place)
        with pytest.raises(Died):
            _write(client.app)
    assert requests_today(client) == 3
    client.get("/v1/account")
    assert requests_today(client) == 4
    for _ in range(3):
        _write(client.app)
        assert requests_today(client) == 4 == _rows(client)


def _kill(patch: pytest.MonkeyPatch, place: str) -> None:
    target, detail = DEATHS[place]

    def die(*_: Any) -> None:
        raise Died

    if target == "commit":
        commit = db.session.commit
        patch.setattr(
            db.session, "commit", die if detail == "before" else lambda: (commit(), die())
        )
    else:
        patch.setattr(target, die)


@pytest.mark.slow
@pytest.mark.usefixtures("_nothing_pending")
def test_a_request_during_the_job_is_copied_by_the_next_run(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get("/v1/account")
    write = jobs._write_days

    def slow(counts: Any) -> None:
        write(counts)
        client.get("/v1/account")

    monkeypatch.setattr(jobs, "_write_days", slow)
    _write(client.app)
    assert (_rows(client), requests_today(client)) == (1, 2)
    monkeypatch.setattr(jobs, "_write_days", write)
    _write(client.app)
    assert (_rows(client), requests_today(client)) == (2, 2)


@pytest.mark.usefixtures("_nothing_pending")
def test_counts_of_a_deleted_account_do_not_block_others(client: Client) -> None:
    with client.app.app_context():
        valkey().client.hset(request_counts.day_key(request_counts.today_utc()), "acct_gone", 5)
        valkey().client.sadd(request_counts.CHANGED, f"acct_gone {request_counts.today_utc()}")
        valkey().client.sadd(request_counts.CHANGED, "acct_gone 2026-01-01")  # forgotten by now
    client.get("/v1/account")
    _write(client.app)
    assert requests_today(client) == _rows(client) == 1
    with client.app.app_context():
        assert valkey().client.exists(request_counts.CHANGED) == 0


def test_a_clock_that_is_days_slow_loses_no_count(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clocks of Valkey and of this machine may differ."""
    behind = clock.now() - timedelta(days=4)
    monkeypatch.setattr(clock, "now", lambda: behind)
    for _ in range(3):
        client.get("/v1/account")
    assert requests_today(client) == 3
    with client.app.app_context():
        left = valkey().client.ttl(request_counts.day_key(request_counts.today_utc()))
    assert timedelta(days=2) <= timedelta(seconds=left) <= timedelta(days=3)
