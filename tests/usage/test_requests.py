"""``api_requests``: which requests count, and that none is lost or counted twice
(docs/adr/0008-request-counts.md)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from redis import Redis

from app.core import clock
from app.core.store import Store, store
from app.extensions import db
from app.usage import requests
from app.usage.jobs import write_counts
from tests.make import Client, make_account, make_key, second_app, together

DEAD = "redis://127.0.0.1:9/0"


def _current(client: Client) -> int:
    """What has been counted, without a request that would count."""
    with client.app.app_context():
        return requests.requests_on(client.account_id, [requests.today()])


def _write(app: Flask) -> int:
    with app.app_context():
        try:
            return write_counts()
        finally:
            db.session.rollback()


@pytest.fixture
def _nothing_pending(app: Flask) -> Iterator[None]:
    """Nothing is on its way before, and nothing is left behind."""
    _write(app)
    yield
    _write(app)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/account"),
        ("HEAD", "/v1/projects"),
        ("GET", "/v1/auth/verify"),
        ("POST", "/v1/projects"),
        ("GET", "/v1/projects?page=0"),
        ("GET", "/v1/projects/x"),
        ("GET", "/v1/nothing"),
        ("DELETE", "/v1/projects"),
    ],
)
def test_every_answered_request_with_a_credential_counts(
    client: Client, method: str, path: str
) -> None:
    client.send(method, path)
    assert _current(client) == 1


def test_a_refusal_for_lack_of_permission_counts(client: Client) -> None:
    make_key(client, permissions=["members:read"]).get("/v1/projects")
    assert _current(client) == 1


@pytest.mark.parametrize("path", ["/healthz", "/api/health", "/docs", "/v1/openapi.json", "/v2/x"])
def test_what_is_not_the_api_does_not_count(client: Client, path: str) -> None:
    client.get(path)
    assert _current(client) == 0


def test_requests_of_nobody_count_for_nobody(client: Client) -> None:
    client.nobody().get("/v1/projects")
    assert _current(client) == 0


def test_usage_tells_the_number_with_this_request(client: Client) -> None:
    for _ in range(3):
        client.get("/v1/account")
    usage = client.get("/v1/account/usage").json["data"]
    assert usage["api_requests"]["current"] == 4


def test_all_credentials_of_an_account_count_together(client: Client) -> None:
    make_key(client).get("/v1/account")
    client.get("/v1/account")
    assert _current(client) == 2


def test_requests_of_many_threads_are_counted_exactly(client: Client) -> None:
    def caller() -> None:
        for _ in range(10):
            client.get("/v1/account")

    together(*[caller] * 8)
    assert _current(client) == 80


def test_days_are_counted_apart_and_months_together(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = ["2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00.000Z", "2026-02-28T23:59:59.999Z"]
    found = []
    for moment in moments:
        monkeypatch.setattr(clock, "now", lambda m=moment: clock.parse_time(m))
        usage = client.get("/v1/account/usage").json["data"]
        found.append(usage["api_requests"]["current"])
    assert found == [1, 1, 2]


@pytest.mark.usefixtures("_nothing_pending")
def test_the_job_moves_the_counts_and_the_sum_stays(client: Client) -> None:
    for number in (3, 2):
        for _ in range(number):
            client.get("/v1/account")
        before = _current(client)
        assert _write(client.app) >= number
        assert _current(client) == before
    assert _current(client) == 5
    assert _write(client.app) == 0


class Died(Exception):
    """The process was killed."""


# Where the job dies: before the transaction, in its middle, at its commit, and after it.
DEATHS = {
    "before writing": ("app.usage.jobs._write", None),
    "before the commit": ("commit", "before"),
    "after the commit": ("commit", "after"),
    "before the end of the batch": ("eval", 1),
}


@pytest.mark.parametrize("place", DEATHS)
@pytest.mark.usefixtures("_nothing_pending")
def test_a_job_that_dies_counts_nothing_twice_and_loses_nothing(client: Client, place: str) -> None:
    for _ in range(3):
        client.get("/v1/account")
    with pytest.MonkeyPatch.context() as patch:
        _kill(patch, client.app, place)
        with pytest.raises(Died):
            _write(client.app)
    assert _current(client) == 3
    client.get("/v1/account")
    assert _current(client) == 4
    for _ in range(3):
        _write(client.app)
        assert _current(client) == 4


def _kill(patch: pytest.MonkeyPatch, app: Flask, place: str) -> None:
    target, detail = DEATHS[place]

    def die(*_: Any) -> None:
        raise Died

    if target == "commit":
        commit = db.session.commit
        patch.setattr(
            db.session, "commit", die if detail == "before" else lambda: (commit(), die())
        )
    elif target == "eval":
        with app.app_context():
            client = store().client
        evaluate, calls = client.eval, iter(range(9))
        patch.setattr(client, "eval", lambda *a: evaluate(*a) if next(calls) < 1 else die())
    else:
        patch.setattr(target, die)


@pytest.mark.parametrize("moment", ["before the rows", "after the rows"])
@pytest.mark.usefixtures("_nothing_pending")
def test_a_sum_that_is_taken_while_the_job_runs_is_right(
    client: Client, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The whole job runs between two looks of the one who adds up."""
    for _ in range(3):
        client.get("/v1/account")
    first, runs = requests._WRITTEN.first, iter((True,))

    def meanwhile(**values: Any) -> Any:
        if moment == "before the rows" and next(runs, False):
            _write(client.app)
        row = first(**values)
        if moment == "after the rows" and next(runs, False):
            _write(client.app)
        return row

    monkeypatch.setattr(requests._WRITTEN, "first", meanwhile)
    assert _current(client) == 3


@pytest.mark.usefixtures("_nothing_pending")
def test_counts_of_an_account_that_is_gone_do_not_hold_up_the_others(client: Client) -> None:
    with client.app.app_context():
        store().client.hincrby(requests.PENDING, requests.field("acct_gone", "2026-01-01"), 5)
    client.get("/v1/account")
    _write(client.app)
    assert _current(client) == 1
    with client.app.app_context():
        assert store().client.exists(requests.BATCH, requests.PENDING) == 0


@pytest.mark.usefixtures("_nothing_pending")
def test_a_store_that_forgets_loses_what_was_pending_and_no_more(client: Client) -> None:
    for _ in range(3):
        client.get("/v1/account")
    _write(client.app)
    client.get("/v1/account")
    with client.app.app_context():
        store().client.flushdb()
    assert _current(client) == 3
    client.get("/v1/account")
    _write(client.app)
    assert _current(client) == 4


def test_while_the_store_is_down_requests_pass_and_are_counted_later(app: Flask) -> None:
    with second_app(app, redis_url=DEAD) as cut_off:
        client = make_account(cut_off)
        for _ in range(3):
            assert client.get("/v1/account").status_code == 200
        assert _current(client) == 3
        cut_off.extensions["canopy_store"] = Store(lambda: app.config["SETTINGS"].redis_url)
        client.get("/v1/account")
        assert _current(client) == 4
        with app.app_context():
            name = requests.field(client.account_id, requests.today())
            assert int(store().client.hget(requests.PENDING, name) or 0) == 4


def test_a_store_that_comes_back_is_used_again_after_a_second(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with second_app(app, redis_url=DEAD) as cut_off, cut_off.app_context():
        assert store().attempt(Redis.ping) is None
        assert store().is_down
        monkeypatch.setattr(store(), "_resolve_url", lambda: app.config["SETTINGS"].redis_url)
        assert store().attempt(Redis.ping) is None
        monkeypatch.setattr(store(), "_try_again_at", 0.0)
        assert store().attempt(Redis.ping) is True
        assert not store().is_down


@pytest.mark.usefixtures("_nothing_pending")
def test_old_notes_of_batches_are_forgotten(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get("/v1/account")
    _write(client.app)
    later = clock.now() + timedelta(days=2)
    monkeypatch.setattr(clock, "now", lambda: later)
    client.get("/v1/account")
    _write(client.app)
    with client.app.app_context():
        found = db.session.execute(db.text("SELECT count(*) FROM request_count_batches"))
        assert found.scalar_one() == 1
        db.session.rollback()
