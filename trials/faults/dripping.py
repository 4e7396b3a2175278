"""Clients that send a byte a second, in a process of their own, until its standard input ends:
``python -m trials.faults.dripping PORT COUNT TOKEN``. Prints what they saw, as JSON."""

from __future__ import annotations

import heapq
import itertools
import json
import select
import selectors
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator

INTERVAL = 1.0  # seconds between two bytes of a client


def requests(token: str) -> list[tuple[bytes, bytes]]:
    """What is sent at once, and what is sent byte by byte: heads, announced bodies and bodies in
    chunks, for several routes, with and without a credential."""
    found = []
    for route, kind in (
        ("/v1/projects", "application/json"),
        ("/oauth/token", "application/x-www-form-urlencoded"),
        ("/api/onboarding/validate-slug", "application/json"),
        ("/login", "application/x-www-form-urlencoded"),
    ):
        for credential in ("", f"Authorization: Bearer {token}\r\n"):
            head = f"POST {route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            head += f"{credential}X-Slow: {'x' * 200}\r\n"
            announced = f"{head}Content-Length: 5000\r\n\r\n".encode()
            chunked = f"{head}Transfer-Encoding: chunked\r\n\r\n".encode()
            found += [(b"", announced), (announced, b"x" * 5000), (chunked, b"1\r\nx\r\n" * 1000)]
    return found


class Dripping:
    """The connections. One that is closed is replaced."""

    def __init__(self, port: int, count: int, token: str) -> None:
        self._port = port
        self._kinds = itertools.cycle(requests(token))
        self._poller = selectors.DefaultSelector()
        self._due = [(time.monotonic() + INTERVAL * n / count, n) for n in range(count)]
        self._open: dict[int, tuple[socket.socket, Iterator[int]]] = {}
        self.seen: Counter[str] = Counter()

    def run(self) -> None:
        while not select.select([sys.stdin], [], [], 0)[0]:
            while self._due and self._due[0][0] <= time.monotonic():
                at, number = heapq.heappop(self._due)
                heapq.heappush(self._due, (at + INTERVAL, number))
                self._drip(number)
            for key, _ in self._poller.select(0.002):
                self._receive(key.data)
        self.seen["open at the end"] = len(self._open)

    def _drip(self, number: int) -> None:
        if number not in self._open:
            self._connect(number)
            return
        client, rest = self._open[number]
        try:
            client.send(bytes([next(rest)]))
            self.seen["bytes"] += 1
        except (OSError, StopIteration):
            self._close(number, "broken")

    def _connect(self, number: int) -> None:
        at_once, rest = next(self._kinds)
        try:
            client = socket.create_connection(("127.0.0.1", self._port), timeout=5)
        except OSError:
            self.seen["not connected"] += 1
            return
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(at_once)
        client.setblocking(False)
        self._poller.register(client, selectors.EVENT_READ, number)
        self._open[number] = client, iter(rest)
        self.seen["connections"] += 1

    def _receive(self, number: int) -> None:
        client, _ = self._open[number]
        try:
            data = client.recv(4096)
        except OSError:
            data = b""
        self._close(number, data[9:12].decode() or "closed")

    def _close(self, number: int, outcome: str) -> None:
        client, _ = self._open.pop(number)
        self._poller.unregister(client)
        client.close()
        self.seen[outcome] += 1


def main() -> None:
    dripping = Dripping(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    dripping.run()
    sys.stdout.write(json.dumps(dripping.seen))


if __name__ == "__main__":
    main()
