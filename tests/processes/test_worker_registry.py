"""A worker that is gone is known by its heartbeats."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from redis import Redis
from rq import Worker
from rq.utils import utcformat

from app.jobs.queue import DELIVERIES, GENERAL, QUEUES, job_queue
from app.processes.rq_worker import ASK_FOR, JOB_MONITORING_INTERVAL
from app.processes.worker_registry import MISSING_AFTER, count_workers
from app.values import clock


@pytest.fixture
def valkey(valkey_url: str) -> Iterator[Redis]:
    """A client of a database that nobody else uses."""
    valkey = Redis.from_url(valkey_url, db=12)
    valkey.flushdb()
    yield valkey
    valkey.flushdb()
    valkey.close()


def _born(valkey: Redis, queue: str) -> Worker:
    worker = Worker([job_queue(valkey, queue)], connection=valkey)
    worker.register_birth()
    return worker


NONE = dict.fromkeys(QUEUES, 0)


def test_each_queue_has_its_workers(valkey: Redis) -> None:
    assert count_workers(valkey) == NONE
    first = _born(valkey, DELIVERIES)
    _born(valkey, DELIVERIES)
    assert count_workers(valkey) == NONE | {DELIVERIES: 2}
    first.register_death()
    _born(valkey, GENERAL)
    assert count_workers(valkey) == NONE | {GENERAL: 1, DELIVERIES: 1}


@pytest.mark.parametrize(("age", "count"), [(MISSING_AFTER - 5, 1), (MISSING_AFTER + 1, 0)])
def test_one_that_was_killed_leaves_no_heartbeats(valkey: Redis, age: float, count: int) -> None:
    worker = _born(valkey, GENERAL)
    moment = utcformat(clock.now() - timedelta(seconds=age))
    valkey.hset(worker.key, "last_heartbeat", moment)
    assert count_workers(valkey)[GENERAL] == count


def test_one_that_expired_is_not_counted(valkey: Redis) -> None:
    worker = _born(valkey, GENERAL)
    valkey.delete(worker.key)
    assert count_workers(valkey)[GENERAL] == 0


def test_a_heartbeat_may_be_late() -> None:
    """Two pass before a worker counts as gone, whether it has a job or not."""
    assert 2 * max(ASK_FOR, JOB_MONITORING_INTERVAL) < MISSING_AFTER
