"""Clients that send, or read, a byte a second, in a process of their own, until its standard input
ends: ``python -m trials.faults.dripping PORT COUNT TOKEN``. Prints what they saw, as JSON."""

from __future__ import annotations

import itertools
import json
import select
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

INTERVAL = 1.0  # seconds between two bytes of a client
_ROUTES = (
    ("/v1/projects", "application/json"),
    ("/oauth/token", "application/x-www-form-urlencoded"),
    ("/login", "application/x-www-form-urlencoded"),
)


def _requests(token: str) -> list[tuple[bytes, bytes]]:
    """What is sent at once, and what byte by byte: heads, announced bodies and bodies in chunks,
    with and without a credential; the last has a long answer, which is read byte by byte."""
    found = []
    for route, kind in _ROUTES:
        for credential in ("", f"Authorization: Bearer {token}\r\n"):
            head = f"POST {route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            head += f"{credential}X-Slow: {'x' * 200}\r\n"
            announced = f"{head}Content-Length: 5000\r\n\r\n".encode()
            chunked = f"{head}Transfer-Encoding: chunked\r\n\r\n".encode()
            found += [(b"", announced), (announced, b"x" * 5000), (chunked, b"1\r\nx\r\n" * 1000)]
    read = f"GET /v1/projects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    return [*found, (read.encode(), b"")]


def drip(port: int, count: int, token: str) -> Counter[str]:
    """Send and read until the standard input ends. A connection that is closed is replaced."""
    kinds, seen = itertools.cycle(_requests(token)), Counter[str]()

    def connect() -> tuple[socket.socket, Iterator[int]] | None:
        at_once, rest = next(kinds)
        with suppress(OSError):
            made = socket.create_connection(("127.0.0.1", port), timeout=5)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.sendall(at_once)
            made.setblocking(False)
            seen["connections"] += 1
            return made, iter(rest)
        return None

    clients: list[tuple[socket.socket, Iterator[int]] | None] = [None] * count
    for number in itertools.cycle(range(count)):
        if select.select([sys.stdin], [], [], INTERVAL / count)[0]:
            break
        client = clients[number]
        if client is None:
            clients[number] = connect()
            continue
        made, left = client
        byte = next(left, None)
        try:
            if byte is not None:
                made.send(bytes([byte]))
            answer = made.recv(16)
            is_over = not answer or byte is not None
        except BlockingIOError:
            continue
        except OSError:
            answer, is_over = b"", True
        if is_over:
            seen[answer[9:12].decode() or "closed"] += 1
            made.close()
            clients[number] = connect()
    seen["open at the end"] = sum(each is not None for each in clients)
    return seen


if __name__ == "__main__":
    sys.stdout.write(json.dumps(drip(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
