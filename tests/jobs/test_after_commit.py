"""A signal is sent once a transaction is committed, and only then."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.db.extensions import db
from app.events.outbox import NEW_DELIVERIES
from app.jobs.after_commit import notify_after_commit
from app.jobs.queue import DELIVERIES, job_queue
from app.jobs.valkey import valkey
from app.jobs.wake_signals import WakeSignal
from app.models import Account
from tests.make import Client, make_project, make_webhook, second_app
from tests.webhooks.deliveries.conftest import wait_for_other_jobs

SIGNAL = WakeSignal("waking", DELIVERIES, 60, "app.waking.jobs.drain")


@pytest.fixture
def inside(app: Flask) -> Iterator[None]:
    """In the application, with no signal from before."""
    with app.app_context():
        yield
        db.session.rollback()
        valkey().client.delete(SIGNAL._sent, SIGNAL._queued)
        for job in job_queue(valkey().client, DELIVERIES).jobs:
            if job.func_name == SIGNAL.job:
                job.delete()


def _started() -> list[str]:
    """The jobs that wait that were started."""
    jobs = job_queue(valkey().client, DELIVERIES).jobs
    return [job.func_name for job in jobs if job.func_name == SIGNAL.job]


def _change() -> None:
    db.session.execute(text("DELETE FROM accounts WHERE id = 'none'"))


@pytest.fixture
def called(inside: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The signals that were sent."""
    sent: list[str] = []
    monkeypatch.setattr(WakeSignal, "notify", lambda self, client: bool(sent.append(self.name)))
    return sent


def test_a_commit_notifies_once_for_all_of_the_transaction(called: list[str]) -> None:
    _change()
    notify_after_commit(SIGNAL)
    notify_after_commit(SIGNAL)
    assert called == []
    db.session.commit()
    assert called == ["waking"]
    _change()
    db.session.commit()
    assert called == ["waking"]


@pytest.mark.both
@pytest.mark.usefixtures("inside")
def test_a_commit_starts_the_job() -> None:
    _change()
    notify_after_commit(SIGNAL)
    db.session.commit()
    assert _started() == [SIGNAL.job]


@pytest.mark.usefixtures("inside")
def test_what_is_rolled_back_signals_nothing() -> None:
    _change()
    notify_after_commit(SIGNAL)
    db.session.rollback()
    _change()
    db.session.commit()
    assert _started() == []


OTHER = WakeSignal("other", DELIVERIES, 60, "app.other.jobs.drain")


def test_a_savepoint_that_is_released_sends_nothing_before_the_commit(called: list[str]) -> None:
    for _ in range(3):
        with db.session.begin_nested():
            _change()
            notify_after_commit(SIGNAL)
        assert called == []
    db.session.commit()
    assert called == ["waking"]


def test_a_savepoint_that_is_rolled_back_forgets_its_own_signals_alone(called: list[str]) -> None:
    _change()
    notify_after_commit(SIGNAL)
    savepoint = db.session.begin_nested()
    notify_after_commit(OTHER)
    savepoint.rollback()
    db.session.commit()
    assert called == ["waking"]


@pytest.mark.both
def test_a_statement_that_fails_in_a_savepoint_forgets_no_signal_before_it(
    called: list[str],
) -> None:
    """The flush has a transaction of its own, with which the savepoint is rolled back."""
    notify_after_commit(SIGNAL)
    savepoint = db.session.begin_nested()
    notify_after_commit(OTHER)
    db.session.add(Account(id="without-a-name"))
    with pytest.raises(IntegrityError):
        db.session.flush()
    savepoint.rollback()
    db.session.commit()
    assert called == ["waking"]


def test_a_store_that_is_down_is_passed_over(app: Flask) -> None:
    with second_app(app, redis_url="redis://127.0.0.1:9/0") as cut_off, cut_off.app_context():
        _change()
        notify_after_commit(SIGNAL)
        db.session.commit()
        assert valkey().is_down


def test_a_new_delivery_wakes_its_job(client: Client) -> None:
    make_webhook(client)
    wait_for_other_jobs()
    with client.app.app_context():
        sent = valkey().client
        sent.delete(NEW_DELIVERIES._sent)
        make_project(client)
    assert sent.llen(NEW_DELIVERIES._sent) == 1
