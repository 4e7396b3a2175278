"""The worker: alone, beside others, while the queue is out of reach, and its two queues."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from redis import Redis
from redis.exceptions import RedisError

from app.jobs.queue import DELIVERIES, GENERAL, QUEUES, job_queue
from app.jobs.valkey import connect_valkey
from app.processes import embedded_valkey
from app.processes.parent_pipe import ParentPipe
from app.processes.worker_registry import count_workers
from tests.instances.valkey import valkey
from tests.make import second_app
from tests.processes.conftest import ENDLESS, set_constants
from tests.processes.instances import Instance, Marked, start_job
from tests.waiting import PATIENCE, wait_for
from tests.webhooks.deliveries.test_metrics import metrics

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start_worker(tree: Path, environment: dict[str, str]) -> Iterator[Start]:
    started: list[subprocess.Popen[bytes]] = []

    def start(*options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(tree / "worker.py"), *options]
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


@pytest.fixture
def deliveries(environment: dict[str, str]) -> Callable[[str], list[float]]:
    """When the job of the other queue did something: ``begun``, ``woken`` or ``asked``."""

    def read(what: str) -> list[float]:
        path = Path(environment["INSTANCE_PATH"]) / "deliveries"
        lines = path.read_text().splitlines() if path.exists() else []
        return [float(line.split()[1]) for line in lines if line.startswith(what)]

    return read


Deliveries = Callable[[str], list[float]]


@pytest.mark.slow
def test_alone_it_starts_valkey_and_leaves_nothing(
    start_worker: Start, environment: dict[str, str], marked: Marked
) -> None:
    worker = start_worker()
    wait_for(lambda: marked.pids("unixsocket:"))
    wait_for(lambda: _workers(environment) == dict.fromkeys(QUEUES, 1))
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(PATIENCE) == 0
    wait_for(lambda: not marked.pids())


@pytest.mark.trial
def test_several_do_each_period_once(start_worker: Start, ticks: Callable[[], list[float]]) -> None:
    began = time.monotonic()
    start_worker()
    start_worker()
    wait_for(lambda: len(ticks()) > 5)
    assert time.monotonic() - began > 9.9  # five periods of 2 seconds


@pytest.mark.slow
def test_goes_on_after_an_outage(
    start_worker: Start,
    ticks: Callable[[], list[float]],
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    address = tmp_path / "redis.sock"
    environment["REDIS_URL"] = f"unix://{address}"

    def start_server() -> subprocess.Popen[bytes]:
        command = [
            str(embedded_valkey._server_binary()),
            "--port",
            "0",
            "--unixsocket",
            str(address),
        ]
        server = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
        wait_for(lambda: embedded_valkey._is_ready(str(address)))
        return server

    server = start_server()
    worker = start_worker()
    wait_for(ticks)
    server.kill()
    server.wait()
    time.sleep(1)
    before = len(ticks())
    server = start_server()
    wait_for(lambda: len(ticks()) > before)
    assert worker.poll() is None
    server.kill()
    server.wait()
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(PATIENCE) == 0


@pytest.mark.trial
def test_a_job_goes_on_while_valkey_hangs(
    start_worker: Start, environment: dict[str, str], tree: Path, tmp_path: Path
) -> None:
    set_constants(tree, {"app/processes/rq_worker.py": {"JOB_MONITORING_INTERVAL": 1}})
    with valkey(tmp_path) as server:
        environment["REDIS_URL"] = server.url
        start_worker()
        job_queue(connect_valkey(server.url)).enqueue("sleep", 8)
        folder = Path(environment["INSTANCE_PATH"])
        wait_for((folder / "job.started").exists)
        server.send(signal.SIGSTOP)
        time.sleep(6)  # the worker writes a heartbeat each second, and waits 3 for an answer
        server.send(signal.SIGCONT)
        wait_for((folder / "job.finished").exists)


@pytest.mark.slow
def test_a_queue_waits_for_no_job_of_the_other(instance: Instance, deliveries: Deliveries) -> None:
    start_job(instance, ENDLESS)
    wait_for(lambda: deliveries("begun"))  # started by the scheduler
    before = len(deliveries("begun"))
    assert instance.get("/notify", data=b"") == "True"
    wait_for(lambda: len(deliveries("begun")) > before)
    assert not (instance.folder / "job.finished").exists()


@pytest.mark.slow
def test_a_job_that_lingers_is_woken(
    serve: Callable[..., Instance], deliveries: Deliveries
) -> None:
    instance = serve(LINGER=str(ENDLESS))
    instance.wait_until_ready()
    wait_for(lambda: deliveries("begun"))
    instance.get("/notify", data=b"")
    wait_for(lambda: deliveries("woken"))
    assert len(deliveries("begun")) == 1


@pytest.mark.trial
def test_it_works_on_the_queues_that_are_named(
    start_worker: Start, environment: dict[str, str], deliveries: Deliveries, marked: Marked
) -> None:
    general = start_worker("--queue", "canopy")
    with Redis(unix_socket_path=str(Path(environment["INSTANCE_PATH"]) / "valkey.sock")) as client:
        queue = job_queue(client, DELIVERIES).key
        wait_for(lambda: marked.pids("unixsocket:") and client.exists(queue))  # by the scheduler
        assert deliveries("begun") == []
        start_worker("--queue", "canopy-deliveries")
        wait_for(lambda: deliveries("begun"))
        general.kill()
        general.wait()
        client.delete("canopy:periodic:tick")  # the period is over
        time.sleep(1.5)
        assert not client.exists("canopy:periodic:tick")


@pytest.mark.slow
def test_a_queue_that_there_is_not_is_refused(start_worker: Start) -> None:
    assert start_worker("--queue", "nonsense").wait(PATIENCE) == 2


@pytest.mark.slow
def test_a_killed_worker_leaves_nothing(instance: Instance, marked: Marked) -> None:
    """Its job is what is killed first where memory runs out."""
    horse = start_job(instance, ENDLESS)
    assert _oom_score(horse) > _oom_score(instance.process.pid) + 400
    (worker,) = [pid for pid in marked.pids() if horse in _children(pid)]
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: horse not in marked.pids())


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.trial)]
)
def test_a_queue_goes_on_when_a_job_dies_or_is_stopped(
    instance: Instance, marked: Marked, number: int
) -> None:
    horse = start_job(instance, ENDLESS)
    os.kill(horse, number)
    wait_for(lambda: horse not in marked.pids())
    (instance.folder / "job.started").unlink()
    start_job(instance, 0)
    wait_for((instance.folder / "job.finished").exists)


@pytest.mark.slow
def test_jobs_are_counted_by_how_they_end(
    start_worker: Start, environment: dict[str, str], app: Flask, tmp_path: Path
) -> None:
    """One that raises and one that is killed have failed."""
    started = Path(environment["INSTANCE_PATH"]) / "job.started"
    with valkey(tmp_path) as server, second_app(app, redis_url=server.url) as other:
        environment["REDIS_URL"] = server.url
        start_worker("--queue", GENERAL)
        queue = job_queue(connect_valkey(server.url))
        queue.enqueue("fail")
        queue.enqueue("sleep", 0)
        wait_for(lambda: metrics(other).get(_jobs("sleep", "succeeded")))
        started.unlink()
        queue.enqueue("sleep", ENDLESS)
        wait_for(lambda: started.exists() and started.read_text())
        os.kill(int(started.read_text()), signal.SIGKILL)
        wait_for(lambda: metrics(other).get(_jobs("sleep", "failed")))
        assert metrics(other)[_jobs("fail", "failed")] == 1
        assert _jobs("fail", "succeeded") not in metrics(other)


def _jobs(kind: str, outcome: str) -> str:
    return f'canopy_jobs_total{{kind="{kind}",outcome="{outcome}"}}'


def _oom_score(pid: int) -> int:
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


@pytest.mark.trial
def test_a_job_learns_that_it_has_to_end(instance: Instance) -> None:
    instance.get("/wait", data=b"")
    wait_for((instance.folder / "job.started").exists)
    instance.send(signal.SIGTERM)
    assert instance.end() == (0, "")
    assert (instance.folder / "job.asked").exists()


def test_one_that_begins_in_that_moment_learns_of_it_too() -> None:
    """The word waits in the pipe until the job's process listens."""
    pipe, told, gone = ParentPipe(), threading.Event(), threading.Event()
    writing = os.dup(pipe.writing)
    pipe.notify()
    pipe.follow(gone.set, told.set)
    assert told.wait(PATIENCE)
    assert not gone.is_set()
    os.close(writing)
    assert gone.wait(PATIENCE)


@pytest.mark.trial
def test_ctrl_c_of_a_terminal_reaches_all_processes_and_is_heard_once(
    start_worker: Start, tree: Path, environment: dict[str, str], marked: Marked
) -> None:
    folder = Path(environment["INSTANCE_PATH"])
    worker = start_worker()
    wait_for(lambda: _workers(environment) == dict.fromkeys(QUEUES, 1))
    enqueue = "import sys; from redis import Redis; from app.jobs.queue import job_queue; "
    enqueue += "job_queue(Redis(unix_socket_path=sys.argv[1])).enqueue('sleep', 2)"
    command = [sys.executable, "-c", enqueue, str(folder / "valkey.sock")]
    subprocess.run(command, cwd=tree, env=environment, check=True)
    wait_for((folder / "job.started").exists)
    for pid in (*_children(worker.pid), worker.pid):
        os.kill(pid, signal.SIGINT)
    assert worker.wait(PATIENCE) == 0
    assert (folder / "job.finished").exists()
    wait_for(lambda: not marked.pids())


def _workers(environment: dict[str, str]) -> dict[str, int]:
    """The number of workers of each queue; none before Valkey runs."""
    path = Path(environment["INSTANCE_PATH"]) / "valkey.sock"
    with contextlib.suppress(RedisError), Redis(unix_socket_path=str(path)) as client:
        return count_workers(client)
    return {}


def _children(pid: int) -> list[int]:
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return []
    return [int(number) for number in found]
