"""A worker that is gone is known by its heartbeats."""

from __future__ import annotations

from datetime import timedelta

import pytest
from redis import Redis
from rq import Worker
from rq.utils import utcformat

from app.jobs.queue import DELIVERIES, GENERAL, QUEUES, job_queue
from app.processes.rq_worker import ASK_FOR, JOB_MONITORING_INTERVAL
from app.processes.worker_registry import MISSING_AFTER, count_workers
from app.values import clock


def _born(own_valkey: Redis, queue: str) -> Worker:
    worker = Worker([job_queue(own_valkey, queue)], connection=own_valkey)
    worker.register_birth()
    return worker


NONE = dict.fromkeys(QUEUES, 0)


def test_each_queue_has_its_workers(own_valkey: Redis) -> None:
    assert count_workers(own_valkey) == NONE
    first = _born(own_valkey, DELIVERIES)
    _born(own_valkey, DELIVERIES)
    assert count_workers(own_valkey) == NONE | {DELIVERIES: 2}
    first.register_death()
    _born(own_valkey, GENERAL)
    assert count_workers(own_valkey) == NONE | {GENERAL: 1, DELIVERIES: 1}


@pytest.mark.parametrize(("age", "count"), [(MISSING_AFTER - 5, 1), (MISSING_AFTER + 1, 0)])
def test_one_that_was_killed_leaves_no_heartbeats(
    own_valkey: Redis, age: float, count: int
) -> None:
    worker = _born(own_valkey, GENERAL)
    moment = utcformat(clock.now() - timedelta(seconds=age))
    own_valkey.hset(worker.key, "last_heartbeat", moment)
    assert count_workers(own_valkey)[GENERAL] == count


def test_one_that_expired_is_not_counted(own_valkey: Redis) -> None:
    worker = _born(own_valkey, GENERAL)
    own_valkey.delete(worker.key)
    assert count_workers(own_valkey)[GENERAL] == 0


def test_a_heartbeat_may_be_late() -> None:
    """Two pass before a worker counts as gone, whether it has a job or not."""
    assert 2 * max(ASK_FOR, JOB_MONITORING_INTERVAL) < MISSING_AFTER
