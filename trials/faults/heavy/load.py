"""Sending requests, and what they cost: the processor time of the web processes, and how long
others wait meanwhile."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import multiprocessing
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from app.processes.web_server.refusals import MAX_HEAD
from bench.instance import polygon
from tests.make import Client
from trials.faults.heavy.request import Request
from trials.faults.trial_report import TrialReport

UNEXPLAINED = 599  # in place of a 5xx without Retry-After
OTHERS_P99 = 1.0  # seconds that another account's reads and writes may take
PROBE_EVERY = 0.02  # seconds
POSITIONS = 51  # of the boundary of an ordinary project
_TIMEOUT = 60
_AFTERWARDS = 0.005  # seconds, in which a process forgets a request
_numbers = itertools.count()  # of names


class Cost(NamedTuple):
    """What one request took while nothing else was asked; seconds."""

    name: str
    status: int
    processor: float  # of all web processes
    waited: float


class Waits(NamedTuple):
    """How long something took to answer, in seconds."""

    seconds: list[float]

    @property
    def p50(self) -> float:
        return self._quantile(0.5)

    @property
    def p99(self) -> float:
        return self._quantile(0.99)

    def _quantile(self, share: float) -> float:
        return sorted(self.seconds)[int(len(self.seconds) * share)]

    def __str__(self) -> str:
        return (
            f"p50 {self.p50 * 1000:.0f} ms, p99 {self.p99 * 1000:.0f} ms, longest "
            f"{max(self.seconds) * 1000:.0f} ms, {len(self.seconds):,} requests"
        )


class Others(NamedTuple):
    """What others saw: ``/healthz``, and another account's reads and writes."""

    healthz: Waits
    reads: Waits
    writes: Waits

    @property
    def lines(self) -> list[str]:
        """The figures, a line each."""
        return [
            f"    GET /healthz               {self.healthz}",
            f"    reads of another account   {self.reads}",
            f"    writes of another account  {self.writes}",
        ]

    def judge(self, made: TrialReport, beside: str) -> None:
        """Report what took too long.

        Args:
            beside: what was sent meanwhile.
        """
        made.check_time(f"reads of another account (p99) {beside}", self.reads.p99, OTHERS_P99)
        made.check_time(f"writes of another account (p99) {beside}", self.writes.p99, OTHERS_P99)


def send(port: int, request: Request, body: bytes) -> int:
    """The status of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
    with contextlib.closing(connection):
        connection.putrequest(request.method, request.path, skip_accept_encoding=True)
        for name, value in request.signed(body).items():
            connection.putheader(name, value)
        if request.repeated is not None:
            name, field = request.repeated
            for _ in range((MAX_HEAD - 2_000) // (len(name) + len(field) + 4)):
                connection.putheader(name, field)
        connection.putheader("Content-Length", str(len(body)))
        with contextlib.suppress(
            BrokenPipeError, ConnectionResetError
        ):  # refused before it is read
            connection.endheaders(body)
        answer = connection.getresponse()
        answer.read()
        if answer.status >= 500 and "Retry-After" not in answer.headers:
            return UNEXPLAINED
        return answer.status


def measure(port: int, workers: Sequence[int], request: Request) -> Cost:
    """Send a request alone. ``workers``: the web processes."""
    body = request.make_body()
    before, began = processor_seconds(with_children(workers)), time.monotonic()
    status = send(port, request, body)
    waited = time.monotonic() - began
    time.sleep(_AFTERWARDS)
    used = processor_seconds(with_children(workers)) - before
    return Cost(request.name, status, used, waited)


def with_children(processes: Sequence[int]) -> list[int]:
    """These processes, and those that they have started and that still run."""
    found = list(processes)
    for pid in processes:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += map(int, children.read_text().split())
    return found


def processor_seconds(processes: Sequence[int]) -> float:
    """The processor time that processes have had, all their threads and ended children together;
    of those that have ended themselves, none."""
    total = 0
    for pid in processes:
        for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                total += int(task.read_text().split()[0])
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[13:15]
            total += sum(map(int, children)) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    return total / 1e9


def watch_others(port: int, other: Client, seconds: float) -> Others:
    """Ask for ``/healthz``, and at the same time read and write with another account in turn, for
    so long. Each has to succeed."""
    health = Request("healthz", "GET", "/healthz", bytes)
    read = Request("read", "GET", "/v1/projects", bytes, other.authorization)
    with ThreadPoolExecutor() as pool:
        healthz = pool.submit(_ask, port, [lambda: health], seconds)
        own = pool.submit(_ask, port, [lambda: read, lambda: create(other)], seconds)
    return Others(*healthz.result(), *own.result())


def create(client: Client) -> Request:
    """A request that creates a project of ``POSITIONS``."""
    values = {"name": f"Forest {next(_numbers)}", "geometry": polygon(POSITIONS)}
    body = json.dumps(values).encode()
    return Request("create", "POST", "/v1/projects", lambda: body, client.authorization)


def _ask(port: int, makers: Sequence[Callable[[], Request]], seconds: float) -> list[Waits]:
    """How long each of these requests takes, in turn, each time on a new connection."""
    waits: list[list[float]] = [[] for _ in makers]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for make, own in zip(makers, waits, strict=True):
            request = make()
            began = time.monotonic()
            status = send(port, request, request.make_body())
            own.append(time.monotonic() - began)
            assert status < 300, status
            time.sleep(max(0, PROBE_EVERY - own[-1]))
    return [Waits(own) for own in waits]


@contextlib.contextmanager
def flood(port: int, requests: Sequence[Request]) -> Iterator[Counter[int]]:
    """Send each of these on a connection of its own, again and again; by a process that gives way
    to others. Yields the statuses, which are there at the end."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    bodies = [(request, request.make_body()) for request in requests]
    process = context.Process(target=_flood, args=(port, theirs), daemon=True)
    process.start()
    statuses: Counter[int] = Counter()
    try:
        for request, body in bodies:
            mine.send((Request(**vars(request) | {"make_body": bytes}), body))
        mine.send(None)
        mine.recv()  # it has begun
        yield statuses
    finally:
        mine.send(None)
        statuses.update(mine.recv())
        process.join(_TIMEOUT)
        process.kill()


def _flood(port: int, pipe: multiprocessing.connection.Connection) -> None:
    os.nice(10)
    requests = []
    while (item := pipe.recv()) is not None:
        requests.append(item)
    over, statuses = threading.Event(), Counter[int]()

    def call(request: Request, body: bytes) -> None:
        while not over.is_set():
            statuses[send(port, request, body)] += 1

    threads = [threading.Thread(target=call, args=item) for item in requests]
    for thread in threads:
        thread.start()
    pipe.send(None)
    pipe.recv()
    over.set()
    for thread in threads:
        thread.join()
    pipe.send(statuses)
