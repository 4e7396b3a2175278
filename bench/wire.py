"""HTTP/1.1 as bytes: requests built beforehand, answers read whole."""

from __future__ import annotations

import socket
from typing import Final, NoReturn

READ_TIMEOUT: Final = 30.0  # seconds without an answer that end the run
_SHOWN: Final = 500  # bytes of the body of an unexpected answer


def build(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """The bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body or method != "GET":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def connect(port: int) -> socket.socket:
    """A connection to a server on this machine."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=READ_TIMEOUT)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def size_of(received: bytes | bytearray) -> int | None:
    """The length of an answer that has begun to arrive, or None while its head is not complete."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = bytes(received[:end]).lower()
    mark = head.find(b"content-length:")
    length = int(head[mark + 15 :].split(b"\r\n", 1)[0]) if mark >= 0 else 0
    return end + 4 + length


def fetch(connection: socket.socket, request: bytes) -> tuple[bytes, bytes]:
    """The head and the body of the answer to a request.

    Raises:
        SystemExit: the answer is not 2xx, or incomplete.
    """
    connection.sendall(request)
    received = bytearray()
    while (size := size_of(received)) is None or len(received) < size:
        chunk = connection.recv(262_144)
        if not chunk:
            raise SystemExit("The server closed a kept-alive connection.")
        received += chunk
    if not received.startswith(b"HTTP/1.1 2"):
        refuse(received)
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    return head, body


def refuse(answer: bytes | bytearray) -> NoReturn:
    """End the run, and show the status and the body of an answer.

    Raises:
        SystemExit: always.
    """
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    line = head.partition(b"\r\n")[0].decode(errors="replace")
    raise SystemExit(f"Unexpected answer: {line}\n{body[:_SHOWN].decode(errors='replace')}")
