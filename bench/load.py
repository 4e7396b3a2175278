"""A small HTTP client for measuring: kept-alive connections, requests built beforehand as bytes.

Every answer is checked: one that is not 2xx ends the run.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

READ_TIMEOUT: Final = 30.0  # seconds without an answer that end the run


def build(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """The bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body or method != "GET":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass(frozen=True)
class Outcome:
    """What a run of requests came to."""

    seconds: float
    latencies: list[float]  # seconds of each request

    @property
    def requests(self) -> int:
        return len(self.latencies)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds


class _Connection:
    """One connection, with one request on its way at a time."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._open()

    def _open(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=READ_TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received, self._size = bytearray(), 0
        self.is_closing = False  # the server has said that it closes the connection

    def send(self, request: bytes) -> None:
        if self.is_closing:
            self.socket.close()
            self._open()
        self._sent_at = time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> tuple[float, bytes] | None:
        """Read what has arrived. Returns the seconds that an answer took, and its body, once it is
        complete.

        Raises:
            SystemExit: the answer is not 2xx.
        """
        chunk = self.socket.recv(262_144)
        if not chunk:
            raise SystemExit("The server closed a kept-alive connection.")
        self._received += chunk
        head, end, _ = self._received.partition(b"\r\n\r\n")
        if not self._size and end:
            length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            self._size = len(head) + 4 + int(length or 0)
        if not self._size or len(self._received) < self._size:
            return None
        took, body = time.perf_counter() - self._sent_at, bytes(self._received[len(head) + 4 :])
        if not head.startswith(b"HTTP/1.1 2"):
            line = head.partition(b"\r\n")[0].decode()
            raise SystemExit(f"Unexpected answer: {line}\n{body[:500].decode(errors='replace')}")
        self.is_closing = b"\r\nconnection: close" in head.lower()
        self._received, self._size = bytearray(), 0
        return took, body


def run(port: int, requests: Iterable[bytes], *, connections: int, seconds: float) -> Outcome:
    """Send requests, taken one by one, over several connections for some time.

    Raises:
        SystemExit: an answer is not 2xx, or none came for a long time.
    """
    source, latencies = iter(requests), list[float]()
    began = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        for _ in range(connections):
            connection = _Connection(port)
            connection.send(next(source))
            selector.register(connection.socket, selectors.EVENT_READ, connection)
        while selector.get_map():
            events = selector.select(READ_TIMEOUT)
            if not events:
                raise SystemExit(f"No answer for {READ_TIMEOUT:.0f} seconds.")
            for key, _ in events:
                connection = key.data
                if (answer := connection.receive()) is None:
                    continue
                latencies.append(answer[0])
                is_over = time.perf_counter() - began >= seconds
                if is_over or connection.is_closing:
                    selector.unregister(key.fileobj)
                if is_over:
                    connection.socket.close()
                    continue
                was_closing = connection.is_closing
                connection.send(next(source))
                if was_closing:
                    selector.register(connection.socket, selectors.EVENT_READ, connection)
    return Outcome(time.perf_counter() - began, latencies)


def fetch(port: int, request: bytes) -> bytes:
    """The body of the answer. Raises SystemExit as ``run`` does."""
    connection = _Connection(port)
    connection.send(request)
    while (answer := connection.receive()) is None:
        pass
    connection.socket.close()
    return answer[1]
