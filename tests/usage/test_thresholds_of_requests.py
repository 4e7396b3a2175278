"""``usage.*`` events of API requests, emitted once a month (docs/policy.md, "Events")."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.account.service import set_plan
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import RequestCount
from app.usage.jobs import write_counts
from app.usage.thresholds import update_requests_level
from app.values import clock
from tests.make import Client, events, together
from tests.usage.helpers import ALL, in_transaction, set_counters, usage_events

HALF_A_MONTH = "2026-04-15T12:00:00.000Z"  # of 30 days, so 30,000 requests are allowed


def count(client: Client, day: str, requests: int) -> None:
    """Set the count of a day, as the job does."""
    with client.app.app_context(), transaction():
        key = {"account_id": client.account_id, "day": day}
        row = db.session.get(RequestCount, key) or RequestCount(**key)
        row.requests = requests
        db.session.add(row)
        db.session.flush()
        update_requests_level(client.account_id, clock.now())


def at(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    monkeypatch.setattr(clock, "now", lambda: clock.parse_time(moment))


@pytest.mark.both
def test_thresholds_of_requests_are_reported_once_a_month(
    free: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, HALF_A_MONTH)
    expected: dict[int, list[Any]] = {
        22_499: [],
        22_500: [75],
        22_501: [75],
        29_000: [75, 90],
        30_000: [75, 90, 100],
        30_001: ALL,
        99_999: ALL,
    }
    for requests, seen in expected.items():
        count(free, "2026-04-15", requests)
        assert usage_events(free) == seen
    at(monkeypatch, "2026-05-01T00:00:00.000Z")
    count(free, "2026-05-01", 5)
    assert usage_events(free) == ALL
    count(free, "2026-05-01", 31_000)
    assert usage_events(free) == [*ALL, 75, 90, 100]


def test_data_of_an_event_of_requests(free: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, HALF_A_MONTH)
    count(free, "2026-04-15", 22_501)
    assert events(free)[-1]["data"] == {
        "metric": "api_requests",
        "threshold": 75,
        "current": 22_501,
        "limit": 30_000,
        "percentage": 75.0,
    }


def test_requests_of_all_days_of_the_month_and_no_others_count(
    free: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, HALF_A_MONTH)
    count(free, "2026-03-31", 30_000)
    count(free, "2026-05-01", 30_000)
    assert usage_events(free) == []
    count(free, "2026-04-01", 11_250)
    count(free, "2026-04-30", 11_250)
    assert usage_events(free) == [75]


def test_the_level_of_another_month_does_not_count(
    free: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_counters(free, requests_level=4, requests_period="2026-03")
    at(monkeypatch, HALF_A_MONTH)
    count(free, "2026-04-15", 27_000)
    assert usage_events(free) == [75, 90]


def test_requests_without_a_limit(client: Client) -> None:
    count(client, clock.now().date().isoformat(), 10**9)
    assert usage_events(client) == []


@pytest.mark.both
def test_requests_of_a_deleted_account(app: Flask) -> None:
    with app.app_context():
        update_requests_level("acct_gone", clock.now())


def test_requests_are_checked_against_a_new_plan(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, HALF_A_MONTH)
    count(client, "2026-04-15", 28_000)
    for plan, seen in {"free": [75, 90], "pro": [75, 90], "free ": [75, 90] * 2}.items():
        in_transaction(client, lambda p=plan: set_plan(client.account_id, p.strip()))
        assert usage_events(client) == seen


@pytest.mark.both
def test_concurrent_jobs_emit_each_threshold_once(free: Client) -> None:
    day = clock.now().date().isoformat()
    with free.app.app_context(), transaction():
        db.session.add(RequestCount(account_id=free.account_id, day=day, requests=10**6))

    def job() -> None:
        in_transaction(free, lambda: update_requests_level(free.account_id, clock.now()))

    together(*[job] * 6)
    assert usage_events(free) == ALL


def test_requests_copied_after_the_end_of_a_month_count_for_it(
    free: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last requests of a month are copied to the database in the next one."""
    at(monkeypatch, "2026-04-30T23:59:50.000Z")
    count(free, "2026-04-15", 22_499)
    free.get("/v1/account")
    at(monkeypatch, "2026-05-01T00:00:05.000Z")
    with free.app.app_context():
        write_counts()
    assert usage_events(free) == [75]


def test_a_month_is_ignored_once_the_next_one_was_reported(free: Client) -> None:
    with free.app.app_context(), transaction():
        for day, requests in (("2026-05-01", 23_300), ("2026-04-30", 22_500)):
            row = RequestCount(account_id=free.account_id, day=day, requests=requests)
            db.session.add(row)
            db.session.flush()
            update_requests_level(free.account_id, clock.parse_time(f"{day}T00:00:00.000Z"))
    assert usage_events(free) == [75]
