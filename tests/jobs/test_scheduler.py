"""Periodic jobs are started, and signals sent, once a period."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask
from redis import Redis
from rq import Queue

from app.core import JOBS
from app.db.migrations import upgrade
from app.jobs import scheduler as scheduler_module
from app.jobs.queue import DELIVERIES, GENERAL, job_queue
from app.jobs.registry import Job, register_jobs
from app.jobs.scheduler import Scheduler
from app.jobs.valkey import valkey
from app.jobs.wake_signals import WakeSignal
from app.limits.request_counts import CHANGED
from app.processes import embedded_valkey


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    folder = tmp_path_factory.mktemp("valkey")
    with Redis.from_url(embedded_valkey.ensure_valkey(folder)) as client:
        yield client
    embedded_valkey.release_valkey(folder)


@pytest.fixture
def queue(connection: Redis) -> Queue:
    connection.flushdb()
    return job_queue(connection)


@pytest.fixture(autouse=True)
def _asks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler_module, "ASK_EVERY", 0.0)


def often() -> None:
    """Never run."""


OFTEN = Job(often, every_seconds=1)


def test_two_schedulers_enqueue_once(queue: Queue) -> None:
    for _ in range(2):
        Scheduler(lambda: queue.connection, [OFTEN]).check()
    assert queue.job_ids == ["periodic-often"]


def test_a_clock_that_was_set_back_delays_no_job(queue: Queue) -> None:
    """A period then ends by as much later: its key belongs to Valkey, whose clock it is."""
    scheduler = Scheduler(lambda: queue.connection, [OFTEN])
    queue.connection.set("canopy:periodic:often", "1", ex=86_400)
    scheduler.check()
    assert queue.count == 1
    assert 0 < queue.connection.pttl("canopy:periodic:often") <= 1_000


def test_a_job_that_waits_is_not_enqueued_again(queue: Queue) -> None:
    scheduler = Scheduler(lambda: queue.connection, [OFTEN])
    scheduler.check()
    queue.connection.delete("canopy:periodic:often")  # the period is over
    scheduler.check()
    assert queue.count == 1


def test_a_scheduler_logs_an_outage_once(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    reach = iter([ConnectionError("gone"), ConnectionError("gone"), queue.connection])

    def connect() -> Redis:
        result = next(reach)
        if isinstance(result, Exception):
            raise result
        return result

    scheduler = Scheduler(connect, [OFTEN])
    for _ in range(4):
        scheduler.check()
    assert [record.message for record in caplog.records if record.name == "app.jobs.scheduler"] == [
        "Valkey unavailable, periodic jobs wait: gone",
        "Valkey is back, periodic jobs continue",
    ]
    assert queue.count == 1


def test_periodic_jobs_have_names_that_rq_takes(queue: Queue) -> None:
    register_jobs(JOBS)
    for job in JOBS:
        if not job.every_seconds:
            continue
        queue.connection.flushdb()
        # Whether one is due may depend on what other tests left in the database.
        Scheduler(lambda: queue.connection, [replace(job, is_due=None)]).check()
        signal = job.signal
        (queued,) = job_queue(queue.connection, signal.queue if signal else job.queue).jobs
        assert queued.func_name == job.name
        assert queued.id.startswith(f"signal-{signal.name}-" if signal else f"periodic-{job.name}")


def test_a_job_that_has_nothing_to_do_is_not_started(queue: Queue) -> None:
    has_work = False
    job = Job(often, every_seconds=1, is_due=lambda: has_work)
    scheduler = Scheduler(lambda: queue.connection, [job])
    scheduler.check()
    assert queue.count == 0
    has_work = True
    queue.connection.delete("canopy:periodic:often")  # the period is over
    scheduler.check()
    assert queue.count == 1


def test_valkey_is_asked_again_when_the_next_period_ends(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_module, "ASK_EVERY", 600.0)
    scheduler = Scheduler(lambda: queue.connection, [OFTEN])
    scheduler.check()
    queue.empty()
    scheduler.check()
    assert queue.count == 0
    time.sleep(1.1)
    scheduler.check()
    assert queue.count == 1


def test_one_of_which_that_cannot_be_known_is_started(queue: Queue) -> None:
    job = Job(often, every_seconds=1, is_due=lambda: bool(1 / 0))
    Scheduler(lambda: queue.connection, [job]).check()
    assert queue.count == 1


@pytest.mark.both
def test_without_work_no_job_is_due(empty_app: Flask) -> None:
    with empty_app.app_context():
        upgrade()
        valkey().client.delete(CHANGED)  # other tests' requests
        assert [job.name for job in JOBS if job.is_due is not None and job.is_due()] == []


def test_a_signal_is_sent_each_period(queue: Queue) -> None:
    client = queue.connection
    signal = WakeSignal("test", DELIVERIES, 10, "app.test.jobs.often")
    scheduler = Scheduler(lambda: client, [Job(often, every_seconds=15, signal=signal)])
    scheduler.check()
    assert signal.wait(client, 0.1)
    scheduler.check()
    assert not signal.wait(client, 0.1)
    client.delete("canopy:periodic:often")  # the period is over
    scheduler.check()
    assert signal.wait(client, 0.1)
    assert [job_queue(client, name).count for name in (GENERAL, DELIVERIES)] == [0, 1]
