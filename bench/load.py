"""A small HTTP client for measuring: kept-alive connections, raw bytes, one process.

Every answer is checked: one that does not have the expected status ends the run.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.spread import open_spread
from bench.wire import READ_TIMEOUT, build, connect, refuse, size_of

__all__ = ["SUCCESS", "Outcome", "build", "exchange", "one_by_one", "run"]

SUCCESS: Final = range(200, 300)


@dataclass(frozen=True)
class Outcome:
    """What a run of requests came to."""

    requests: int
    seconds: float
    latencies: list[float]  # seconds of each request

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds


class _Connection:
    """One connection, with one request on its way at a time."""

    def __init__(self, opened: socket.socket, expected: Container[int]) -> None:
        self.socket = opened
        self.is_closing = False  # the server has said that it closes the connection
        self._expected = expected
        self._received = bytearray()
        self._size: int | None = None
        self._sent_at = 0.0

    def send(self, request: bytes) -> None:
        self._sent_at = time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> float | None:
        """Read what has arrived; the seconds that the answer took once it is complete.

        Raises:
            SystemExit: the answer does not have an expected status.
        """
        chunk = self.socket.recv(262_144)
        if not chunk:
            raise SystemExit("The server closed a kept-alive connection.")
        self._received += chunk
        if self._size is None:
            self._size = size_of(self._received)
        if self._size is None or len(self._received) < self._size:
            return None
        took = time.perf_counter() - self._sent_at
        if int(self._received[9:12]) not in self._expected:
            refuse(self._received)
        head = self._received[: self._received.index(b"\r\n\r\n")].lower()
        self.is_closing = b"\r\nconnection: close" in head
        self._received.clear()
        self._size = None
        return took


def run(
    port: int,
    requests: Iterable[bytes],
    *,
    connections: int,
    seconds: float,
    processes: Sequence[int] = (),
    expected: Container[int] = SUCCESS,
) -> Outcome:
    """Send requests over several connections for some time.

    Args:
        requests: taken one by one; they must not run out.
        processes: of the server, each of which gets the same number of connections; empty: they
            stay where they happen to be accepted.
        expected: the statuses of the answers.

    Raises:
        SystemExit: an answer has another status, or none came for a long time.
    """
    opened = open_spread(port, connections, processes)
    try:
        return exchange(opened, requests, seconds=seconds, expected=expected)
    finally:
        for each in opened:
            each.close()


def exchange(
    opened: list[socket.socket],
    requests: Iterable[bytes],
    *,
    seconds: float,
    expected: Container[int] = SUCCESS,
) -> Outcome:
    """Send requests over open connections for some time, and leave them open.

    One that the server closes after an answer is replaced, in the list too.

    Raises:
        SystemExit: as ``run`` does.
    """
    source, latencies = iter(requests), list[float]()
    began = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        for place, each in enumerate(opened):
            connection = _Connection(each, expected)
            selector.register(each, selectors.EVENT_READ, (place, connection))
            connection.send(next(source))
        while selector.get_map():
            events = selector.select(READ_TIMEOUT)
            if not events:
                raise SystemExit(f"No answer for {READ_TIMEOUT:.0f} seconds.")
            for key, _ in events:
                place, connection = key.data
                took = connection.receive()
                if took is None:
                    continue
                latencies.append(took)
                is_over = time.perf_counter() - began >= seconds
                if is_over or connection.is_closing:
                    selector.unregister(key.fileobj)
                if connection.is_closing:
                    opened[place] = _reopened(opened[place])
                    connection = _Connection(opened[place], expected)
                    if not is_over:
                        selector.register(opened[place], selectors.EVENT_READ, (place, connection))
                if not is_over:
                    connection.send(next(source))
    return Outcome(len(latencies), time.perf_counter() - began, latencies)


def _reopened(closing: socket.socket) -> socket.socket:
    """A new connection to the server that closes this one."""
    port = closing.getpeername()[1]
    closing.close()
    return connect(port)


def one_by_one(
    port: int, requests: Iterable[bytes], *, expected: Container[int] = SUCCESS
) -> Outcome:
    """Send each request once, over one connection.

    Raises:
        SystemExit: an answer does not have an expected status.
    """
    latencies: list[float] = []
    began = time.perf_counter()
    with connect(port) as opened:
        connection = _Connection(opened, expected)
        for request in requests:
            connection.send(request)
            took = None
            while took is None:
                took = connection.receive()
            latencies.append(took)
    return Outcome(len(latencies), time.perf_counter() - began, latencies)
