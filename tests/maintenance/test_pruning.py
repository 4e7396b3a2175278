"""Pruning many rows: in short transactions and short runs, in turns, and to the end."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event, func, insert, select, text

from app.account.service import create_account
from app.db.extensions import db
from app.jobs import shutdown
from app.maintenance import pruning
from app.models import Delivery, Event, IdempotentResponse, Webhook
from app.policy.deliveries import LOG_DAYS
from app.policy.request_limits import EVENT_DAYS, IDEMPOTENCY_HOURS
from app.values import clock
from app.values.ids import new_id, new_id_at
from config import ROOT
from tests.maintenance.conftest import MakeInstance, prune

OLD = timedelta(days=max(EVENT_DAYS, LOG_DAYS), hours=IDEMPOTENCY_HOURS)
MANY = 1_100
_PRUNE = """
import os, time
from types import SimpleNamespace
from sqlalchemy import text
from app.db.extensions import db
from app.factory import create_app
from app.jobs import pauses
from app.maintenance import jobs
from config import load_settings

def wait(_):
    with db.engine.connect() as connection:
        left = connection.execute(text("SELECT count(*) FROM events")).scalar_one()
    if left < int(os.environ["MANY"]):
        print("between two batches", flush=True)
        time.sleep(600)
    return False

pauses.shutdown = SimpleNamespace(requested=SimpleNamespace(wait=wait))
with create_app(load_settings(os.environ)).app_context():
    for job in jobs.JOBS:
        job.function()
"""


@contextmanager
def in_account(app: Flask) -> Iterator[str]:
    """An account on a database with nothing else to prune, in the context of the application."""
    with app.app_context():
        account_id = create_account(name="Old", owner_email="old@example.org").account.id
        db.session.commit()
        yield account_id
        db.session.rollback()


@pytest.fixture
def account_id(sqlite: Flask) -> Iterator[str]:
    with in_account(sqlite) as made:
        yield made


def store_answers(account_id: str, number: int = MANY) -> None:
    """Expired responses."""
    common = {"account_id": account_id, "fingerprint": "0" * 64, "status": 200, "headers": {}}
    common |= {"body": b"", "created_at": clock.now() - OLD}
    _store(IdempotentResponse, [common | {"key": f"key {n}"} for n in range(number)])


def store_events(account_id: str, number: int = MANY) -> None:
    """Expired events."""
    common = {"account_id": account_id, "type": "project.created", "subject_id": "x", "body": "{}"}
    old = clock.now() - OLD
    _store(Event, [common | {"id": new_id_at("event", old)} for _ in range(number)])


def _store(model: Any, rows: list[dict[str, Any]]) -> None:
    db.session.execute(insert(model), rows)
    db.session.commit()


def left(model: Any = IdempotentResponse) -> int:
    number = db.session.scalars(select(func.count()).select_from(model)).one()
    db.session.rollback()
    return number


@contextmanager
def listening(name: str, listener: Callable[..., Any]) -> Iterator[None]:
    event.listen(db.engine, name, listener)
    try:
        yield
    finally:
        event.remove(db.engine, name, listener)


def deletes() -> tuple[list[tuple[str, int]], Callable[..., None]]:
    """A list of tables and of rows that are going to be deleted from each, and what fills it."""
    found: list[tuple[str, int]] = []

    def note(_: Any, cursor: Any, statement: str, *__: Any) -> None:
        if match := re.search(r"DELETE FROM (\w+)", statement):
            found.append((match[1], cursor.rowcount))

    return found, note


def test_no_table_waits_until_another_is_done(account_id: str) -> None:
    store_answers(account_id)
    store_events(account_id, 3)
    found, note = deletes()
    with listening("after_cursor_execute", note):
        prune()
    tables = [table for table, _ in found]
    assert tables.index("events") < len(tables) - tables[::-1].index("idempotent_answers")
    assert left() == left(Event) == 0


def test_many_deliveries_of_an_event_go_in_batches_of_their_own(account_id: str) -> None:
    """Replays can leave thousands of them; others must not wait for all at once."""
    webhook = Webhook(
        id=new_id("webhook"), account_id=account_id, url="https://a.example", sealed_secret="",
        events=["*"], enabled=True, created_at=clock.now(), updated_at=clock.now(),
    )  # fmt: skip
    event_id = new_id_at("event", clock.now() - OLD)
    _store(
        Event,
        [{"id": event_id, "account_id": account_id, "type": "project.created", "subject_id": "x",
          "body": "{}"}],
    )  # fmt: skip
    db.session.add(webhook)
    db.session.commit()
    common = {
        "account_id": account_id, "webhook_id": webhook.id, "event_id": event_id, "attempts": 1,
        "cause": "replay", "state": "succeeded", "due_at": None, "created_at": clock.now(),
    }  # fmt: skip
    _store(Delivery, [common | {"id": new_id("delivery")} for _ in range(3 * pruning.LEAST_ROWS)])
    found, note = deletes()
    with listening("after_cursor_execute", note):
        prune()
    assert [table for table, _ in found].count("deliveries") >= 3
    prune()
    assert left(Event) == left(Delivery) == 0


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_continued(
    account_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "RUN_SECONDS", 0.0)
    store_answers(account_id)
    prune()
    assert 0 < left() < MANY
    monkeypatch.undo()
    prune()
    assert left() == 0


def test_a_run_ends_when_the_worker_does(account_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store_answers(account_id)
    monkeypatch.setattr(shutdown, "requested", threading.Event())
    with listening("commit", lambda _: shutdown.requested.set()):
        prune()
    assert left() > 0


@pytest.mark.slow
def test_batches_are_smaller_where_the_database_is_slow(account_id: str) -> None:
    """Each row takes a millisecond here, so batches stay as small as they begin."""
    store_answers(account_id, 400)
    lasted: list[float] = []

    def slow(_: Any, cursor: Any, statement: str, *__: Any) -> None:
        if "DELETE FROM idempotent_answers" in statement:
            lasted.append(deleted() / 1000)
            time.sleep(lasted[-1])

    before = 400

    def deleted() -> int:
        nonlocal before
        now = db.session.execute(text("SELECT count(*) FROM idempotent_answers")).scalar_one()
        gone, before = before - now, now
        return gone

    with listening("after_cursor_execute", slow):
        prune()
    assert left() == 0
    assert max(lasted) <= 0.1


def test_the_next_batch_follows_the_last() -> None:
    for rows, seconds, following in (
        (200, 0.001, 400),
        (200, 0.005, 200),
        (200, 0.00625, 160),
        (300, 9, 150),
        (400, 0.001, 500),
        (110, 9, 100),
    ):
        assert pruning.next_batch_rows(rows, seconds) == following


def test_two_jobs_at_once_share_the_rows(instance: Flask) -> None:
    both = threading.Barrier(2)
    numbers: list[int] = []

    def run() -> None:
        with instance.app_context():
            both.wait(60)
            numbers.append(prune())

    with in_account(instance) as account_id:
        store_answers(account_id)
        store_events(account_id)
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sum(numbers) == 2 * MANY
        assert left() == left(Event) == 0


@pytest.mark.slow
def test_rows_that_a_transaction_holds_are_left_to_the_next_run(
    make_instance: MakeInstance,
) -> None:
    """SQLite has one writer at a time."""
    with in_account(make_instance("postgresql")) as account_id:
        store_answers(account_id)
        with db.engine.connect() as holder:
            chosen = "SELECT key FROM idempotent_answers LIMIT 1 FOR UPDATE"
            holder.execute(text(chosen))
            assert prune() == MANY - 1
        assert prune() == 1


@pytest.mark.slow
def test_a_job_that_is_killed_leaves_whole_rows(account_id: str, sqlite: Flask) -> None:
    store_events(account_id)
    settings = sqlite.config["SETTINGS"]
    environ = {"INSTANCE_PATH": str(settings.instance_path), "LOG_LEVEL": "error"}
    environ["DATABASE_URL"] = settings.database_url
    environ["MANY"] = str(MANY)
    command = [sys.executable, "-c", _PRUNE]
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == b"between two batches\n"
        job.kill()
    assert 0 < left(Event) < MANY
    prune()
    assert left(Event) == left(Delivery) == 0
