"""A bell is rung once a transaction is committed, and only then."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.bells import Bell
from app.core.queue import DELIVERIES, job_queue
from app.core.store import store
from app.core.waking import ring_after_commit, wake_after_commit
from app.extensions import db
from tests.make import second_app

BELL = Bell("waking", "app.waking.jobs.drain", DELIVERIES, 60)
JOB = "app.waking.jobs.work"


@pytest.fixture
def inside(app: Flask) -> Iterator[None]:
    """In the application, with no ring from before."""
    with app.app_context():
        yield
        db.session.rollback()
        store().client.delete(BELL._rung, BELL._queued)
        for queue in (job_queue(store().client, DELIVERIES), job_queue(store().client)):
            for job in queue.jobs:
                if job.func_name in (BELL.job, JOB):
                    job.delete()


def _rings() -> list[str]:
    """The jobs that wait for having been woken."""
    client = store().client
    jobs = [*job_queue(client).jobs, *job_queue(client, DELIVERIES).jobs]
    return [job.func_name for job in jobs if job.func_name in (BELL.job, JOB)]


def _change() -> None:
    db.session.execute(text("DELETE FROM accounts WHERE id = 'none'"))


@pytest.mark.usefixtures("inside")
def test_a_commit_rings_once_for_all_of_the_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    rung = []
    monkeypatch.setattr(Bell, "ring", lambda self, client: bool(rung.append(self.name)))
    _change()
    ring_after_commit(BELL)
    ring_after_commit(BELL)
    assert rung == []
    db.session.commit()
    assert rung == ["waking"]
    _change()
    db.session.commit()
    assert rung == ["waking"]


@pytest.mark.usefixtures("inside")
def test_a_commit_wakes_jobs_and_rings_bells() -> None:
    _change()
    ring_after_commit(BELL)
    wake_after_commit(JOB)
    db.session.commit()
    assert sorted(_rings()) == [BELL.job, JOB]


@pytest.mark.usefixtures("inside")
def test_what_is_rolled_back_rings_nothing() -> None:
    _change()
    ring_after_commit(BELL)
    db.session.rollback()
    _change()
    db.session.commit()
    assert _rings() == []


def test_a_store_that_is_down_is_passed_over(app: Flask) -> None:
    with second_app(app, redis_url="redis://127.0.0.1:9/0") as cut_off, cut_off.app_context():
        _change()
        ring_after_commit(BELL)
        db.session.commit()
        assert store().is_down
