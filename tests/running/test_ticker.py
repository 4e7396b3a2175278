"""Periodic jobs are put on the queue, and bells rung, once a period."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from redis import Redis
from rq import Queue

from app.core.bells import BELLS
from app.core.queue import GENERAL, QUEUES, job_queue
from app.policy.schedule import PERIODIC, Periodic
from app.running import embedded
from app.running.ticker import Ticker


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    folder = tmp_path_factory.mktemp("valkey")
    with Redis.from_url(embedded.ensure(folder)) as client:
        yield client
    embedded.release(folder)


@pytest.fixture
def queue(connection: Redis) -> Queue:
    connection.flushdb()
    return job_queue(connection)


OFTEN = Periodic("often", "no.such.function", 1)


def test_two_tickers_enqueue_once(queue: Queue) -> None:
    for _ in range(2):
        Ticker(lambda: queue.connection, [OFTEN]).tick()
    assert queue.job_ids == ["periodic-often"]


def test_a_job_that_waits_is_not_enqueued_again(queue: Queue) -> None:
    ticker = Ticker(lambda: queue.connection, [OFTEN])
    ticker.tick()
    queue.connection.delete("canopy:periodic:often")  # the period is over
    ticker.tick()
    assert queue.count == 1


def test_a_ticker_logs_an_outage_once(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    reach = iter([ConnectionError("gone"), ConnectionError("gone"), queue.connection])

    def connect() -> Redis:
        result = next(reach)
        if isinstance(result, Exception):
            raise result
        return result

    ticker = Ticker(connect, [OFTEN])
    for _ in range(4):
        ticker.tick()
    assert [record.message for record in caplog.records if record.name == "app.running.ticker"] == [
        "periodic jobs wait for the queue: gone",
        "periodic jobs go on",
    ]
    assert queue.count == 1


@pytest.mark.parametrize("periodic", PERIODIC, ids=lambda periodic: periodic.name)
def test_periodic_jobs_have_names_that_rq_takes(queue: Queue, periodic: Periodic) -> None:
    Ticker(lambda: queue.connection, [periodic]).tick()
    bell = BELLS[periodic.bell] if periodic.bell else None
    (job,) = job_queue(queue.connection, bell.queue if bell else GENERAL).jobs
    assert job.func_name == periodic.function_path
    assert job.id.startswith(f"bell-{bell.name}-" if bell else f"periodic-{periodic.name}")
    assert os.path.basename(periodic.name) == periodic.name


def test_a_bell_is_rung_each_period(queue: Queue) -> None:
    periodic = Periodic("ring", "app.webhooks.jobs.deliver", 15, bell="deliveries")
    client, bell = queue.connection, BELLS["deliveries"]
    ticker = Ticker(lambda: client, [periodic])
    ticker.tick()
    assert bell.wait(client, 0.1)
    ticker.tick()
    assert not bell.wait(client, 0.1)
    client.delete("canopy:periodic:ring")  # the period is over
    ticker.tick()
    assert bell.wait(client, 0.1)
    assert [job_queue(client, name).count for name in QUEUES] == [0, 1]
