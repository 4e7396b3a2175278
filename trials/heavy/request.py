"""A request, as it is sent; and many of them at once."""

from __future__ import annotations

import contextlib
import http.client
import multiprocessing
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection

from app.processes.web_server.refusals import MAX_HEAD

Value = Callable[[], bytes]
TIMEOUT = 120


@dataclass(frozen=True)
class Request:
    """A request, whose body is made when it is needed."""

    name: str
    method: str
    path: str
    make_body: Value = bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    repeated: tuple[str, bytes] | None = None  # a header field that is sent as often as possible


@contextlib.contextmanager
def sent(port: int, request: Request, body: bytes) -> Iterator[http.client.HTTPResponse]:
    """The response to a request on a connection of its own, once its head is there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    with contextlib.closing(connection):
        connection.putrequest(request.method, request.path, skip_accept_encoding=True)
        for name, value in {"Content-Type": "application/json", **request.headers}.items():
            connection.putheader(name, value)
        if request.repeated is not None:
            name, content = request.repeated
            for _ in range((MAX_HEAD - 2_000) // (len(name) + len(content) + 4)):
                connection.putheader(name, content)
        connection.putheader("Content-Length", str(len(body)))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused unread
            connection.endheaders(body)
        yield connection.getresponse()


def filled(
    before: bytes, piece: bytes, after: bytes = b"", most: int | None = None, *, size: int
) -> bytes:
    """``before``, then ``piece`` as often as it fits into ``size`` bytes and at most ``most``
    times, then ``after``."""
    number = (size - len(before) - len(after)) // len(piece)
    return before + piece * (number if most is None else min(most, number)) + after


def status_of(port: int, request: Request, body: bytes | None = None) -> int:
    """The status of the answer; 599 for a 5xx without Retry-After."""
    with sent(port, request, request.make_body() if body is None else body) as answer:
        answer.read()
    return 599 if answer.status >= 500 and "Retry-After" not in answer.headers else answer.status


@contextlib.contextmanager
def flood(port: int, requests: Sequence[Request]) -> Iterator[Counter[int]]:
    """Send each of these on a connection of its own, again and again; by a process that gives way
    to others. Yields the statuses, which are there at the end."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    items = [(replace(request, make_body=bytes), request.make_body()) for request in requests]
    process = context.Process(target=_send_all, args=(port, items, theirs), daemon=True)
    process.start()
    statuses: Counter[int] = Counter()
    mine.recv()  # it has begun
    try:
        yield statuses
    finally:
        mine.send(None)
        statuses.update(mine.recv())
        process.join(60)
        process.kill()


def _send_all(port: int, items: Sequence[tuple[Request, bytes]], pipe: Connection) -> None:
    os.nice(10)
    over, statuses = threading.Event(), Counter[int]()

    def call(request: Request, body: bytes) -> None:
        while not over.is_set():
            statuses[status_of(port, request, body)] += 1

    threads = [threading.Thread(target=call, args=item) for item in items]
    for thread in threads:
        thread.start()
    pipe.send(None)
    pipe.recv()
    over.set()
    for thread in threads:
        thread.join()
    pipe.send(statuses)
