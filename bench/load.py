"""A small HTTP client for measuring: kept-alive connections, raw bytes, one process."""

from __future__ import annotations

import selectors
import socket
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What a run of requests came to."""

    requests: int
    seconds: float
    statuses: dict[int, int]

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds


def build(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """The bytes of an HTTP/1.1 request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body or method != "GET":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class _Connection:
    """One connection, with one request on its way at a time."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = bytearray()
        self.expected = 0

    def feed(self) -> int | None:
        """Read what there is; the status when an answer is complete."""
        chunk = self.socket.recv(262_144)
        if not chunk:
            raise ConnectionError("the server closed a kept-alive connection")
        self.received += chunk
        if not self.expected:
            end = self.received.find(b"\r\n\r\n")
            if end < 0:
                return None
            head = bytes(self.received[:end]).lower()
            mark = head.find(b"content-length:")
            length = int(head[mark + 15 :].split(b"\r\n", 1)[0]) if mark >= 0 else 0
            self.expected = end + 4 + length
        if len(self.received) < self.expected:
            return None
        status = int(self.received[9:12])
        self.received.clear()
        self.expected = 0
        return status


def run(port: int, requests: list[bytes], *, connections: int, seconds: float) -> Outcome:
    """Send ``requests`` in turn over several connections for some time."""
    selector = selectors.DefaultSelector()
    opened = [_Connection(port) for _ in range(connections)]
    statuses: dict[int, int] = {}
    sent = 0
    began = time.perf_counter()
    for each in opened:
        selector.register(each.socket, selectors.EVENT_READ, each)
        each.socket.sendall(requests[sent % len(requests)])
        sent += 1
    done, open_count = 0, connections
    while open_count:
        for key, _ in selector.select(10):
            each = key.data
            status = each.feed()
            if status is None:
                continue
            done += 1
            statuses[status] = statuses.get(status, 0) + 1
            if time.perf_counter() - began < seconds:
                each.socket.sendall(requests[sent % len(requests)])
                sent += 1
            else:
                selector.unregister(each.socket)
                each.socket.close()
                open_count -= 1
    return Outcome(done, time.perf_counter() - began, statuses)


def one_by_one(port: int, requests: list[bytes]) -> dict[int, int]:
    """Send each request once, over one connection. Returns how often each status came."""
    connection = _Connection(port)
    statuses: dict[int, int] = {}
    for request in requests:
        connection.socket.sendall(request)
        status = None
        while status is None:
            status = connection.feed()
        statuses[status] = statuses.get(status, 0) + 1
    connection.socket.close()
    return statuses
