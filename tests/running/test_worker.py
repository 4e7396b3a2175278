"""The worker: alone, beside others, and while the queue is out of reach."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis
from rq import Queue

from app.core.queue import job_queue
from app.policy.schedule import PERIODIC, Periodic
from app.running import embedded
from app.running.ticker import Ticker
from tests.running.instances import Marked, wait_for

Start = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture
def start_worker(tree: Path, environment: dict[str, str]) -> Iterator[Start]:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        command = [sys.executable, str(tree / "worker.py")]
        started.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def ticks(environment: dict[str, str]) -> Callable[[], list[float]]:
    """When the periodic job ran."""

    def read() -> list[float]:
        path = Path(environment["INSTANCE_PATH"]) / "ticks"
        return [float(line) for line in path.read_text().split()] if path.exists() else []

    return read


def test_alone_it_starts_valkey_and_leaves_nothing(start_worker: Start, marked: Marked) -> None:
    worker = start_worker()
    wait_for(lambda: marked.pids("unixsocket:"))
    time.sleep(0.5)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=5) == 0
    wait_for(lambda: not marked.pids())


def test_several_do_each_period_once(start_worker: Start, ticks: Callable[[], list[float]]) -> None:
    start_worker()
    start_worker()
    moments = wait_for(lambda: len(ticks()) > 2 and ticks(), 15)
    # The period is 2 seconds; a job is started within a second or so of its moment.
    assert all(later - earlier > 0.8 for earlier, later in itertools.pairwise(moments))
    assert moments[-1] - moments[0] > 3


def test_goes_on_after_an_outage(
    start_worker: Start,
    ticks: Callable[[], list[float]],
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    address = tmp_path / "redis.sock"
    environment["REDIS_URL"] = f"unix://{address}"

    def start_server() -> subprocess.Popen[bytes]:
        command = [str(embedded._binary()), "--port", "0", "--unixsocket", str(address)]
        server = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
        wait_for(lambda: embedded._answers(str(address)))
        return server

    server = start_server()
    worker = start_worker()
    wait_for(ticks)
    server.kill()
    server.wait()
    time.sleep(2.5)
    before = len(ticks())
    server = start_server()
    wait_for(lambda: len(ticks()) > before, 12)
    assert worker.poll() is None
    server.kill()
    server.wait()
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=8) == 0


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
    job = queue.fetch_job(f"periodic-{periodic.name}")
    assert job
    assert job.func_name == periodic.function_path
    assert os.path.basename(periodic.name) == periodic.name
