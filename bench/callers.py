"""Clients that call a server at a constant rate, however long it takes to answer.

A client that waits for each answer before it thinks of the next request sends fewer while the
server is slow, and so hides how slow it is. These have a timetable, and the time of a request
counts from the moment at which it should have been sent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from bench.wire import connect, fetch

Answer = tuple[float, float]  # time.perf_counter() when it was due, and seconds until it was there


@dataclass
class Caller:
    """One client: its requests in turn, so many a second, over one connection."""

    kind: str
    requests: Iterable[bytes]
    per_second: float
    answers: list[Answer] = field(default_factory=list)

    def call(self, port: int, stop: threading.Event) -> None:
        """Call until ``stop`` is set.

        Raises:
            SystemExit: an answer is not 2xx, or none came for a long time.
        """
        began, connection = time.perf_counter(), connect(port)
        for number, request in enumerate(self.requests):
            due = began + number / self.per_second
            if stop.wait(max(due - time.perf_counter(), 0)):
                break
            head, _ = fetch(connection, request)
            self.answers.append((due, time.perf_counter() - due))
            if b"\r\nconnection: close" in head.lower():
                connection.close()
                connection = connect(port)
        connection.close()


@contextmanager
def calling(port: int, callers: Sequence[Caller]) -> Iterator[None]:
    """The callers at work during the block.

    Raises:
        SystemExit: one of them got an answer that was not 2xx.
    """
    stop = threading.Event()
    with ThreadPoolExecutor(len(callers)) as pool:
        running: list[Future[None]] = [pool.submit(each.call, port, stop) for each in callers]
        try:
            yield
        finally:
            stop.set()
    for each in running:
        each.result()


def latencies(
    callers: Sequence[Caller], kind: str, periods: Sequence[tuple[float, float]]
) -> list[float]:
    """Milliseconds of the requests of a kind that were due in some periods."""
    return [
        took * 1000
        for caller in callers
        if caller.kind == kind
        for due, took in caller.answers
        if any(begin <= due < end for begin, end in periods)
    ]
