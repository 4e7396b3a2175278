"""A signal is sent once a transaction is committed, and only then."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import text

from app.db.extensions import db
from app.jobs.after_commit import notify_after_commit
from app.jobs.queue import DELIVERIES, job_queue
from app.jobs.valkey import valkey
from app.jobs.wake_signals import WakeSignal
from tests.make import second_app

pytestmark = pytest.mark.both


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


@pytest.mark.usefixtures("inside")
def test_a_commit_notifies_once_for_all_of_the_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    monkeypatch.setattr(WakeSignal, "notify", lambda self, client: bool(sent.append(self.name)))
    _change()
    notify_after_commit(SIGNAL)
    notify_after_commit(SIGNAL)
    assert sent == []
    db.session.commit()
    assert sent == ["waking"]
    _change()
    db.session.commit()
    assert sent == ["waking"]


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


def test_a_store_that_is_down_is_passed_over(app: Flask) -> None:
    with second_app(app, redis_url="redis://127.0.0.1:9/0") as cut_off, cut_off.app_context():
        _change()
        notify_after_commit(SIGNAL)
        db.session.commit()
        assert valkey().is_down
