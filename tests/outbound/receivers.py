"""Receivers for tests: servers that write down what they get, and answer as a test says."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.outbound.authority import Authority, make_authority

__all__ = ["Authority", "Listener", "PlainReceiver", "Received", "Receiver", "make_authority"]

_KEEP_ALIVE = {"Content-Type": "application/json", "Connection": "keep-alive"}


class Received(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes  # raw
    connection: int  # counted from 1

    @property
    def host(self) -> str:
        return self.headers["host"]


class Listener:
    """Accepts connections on a port of a loopback address, and serves each in a thread."""

    scheme = "https"

    def __init__(
        self,
        serve: Callable[[socket.socket], None] | None = None,
        *,
        address: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        """
        Args:
            serve: what is done with a connection; without it nothing is, and it stays open.
        """
        self.connections = 0
        self.ended = threading.Event()
        self._serve = serve or (lambda connection: self.pause(300))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listening = socket.create_server((address, port), family=family, backlog=128)
        self.port: int = self._listening.getsockname()[1]
        self._start(self._accept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def url(self, path: str = "/hook", host: str = "localhost") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def pause(self, seconds: float) -> None:
        """Wait, but not past the end of the listener."""
        if self.ended.wait(seconds):
            raise ConnectionAbortedError

    def close_connections(self) -> None:
        """Close all that are open, as a server does that starts anew."""
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def close(self) -> None:
        """End everything, and wait for it."""
        self.ended.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.close_connections()
        for thread in self._threads:
            thread.join(5)

    def _start(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self.connections += 1
                self._start(self._run, connection)

    def _run(self, connection: socket.socket) -> None:
        with suppress(OSError, ValueError), self._known(connection):
            self._serve(connection)

    @contextmanager
    def _known(self, connection: socket.socket) -> Iterator[None]:
        with self._lock:
            self._open.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()


class Exchange:
    """A request that waits for its answer, and the connection for it."""

    def __init__(self, receiver: Receiver, connection: socket.socket, request: Received) -> None:
        self.receiver, self.connection, self.request = receiver, connection, request

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def drip(self, data: bytes, every: float) -> None:
        """One byte after the other."""
        for number in data:
            self.send(bytes([number]))
            self.receiver.pause(every)


# Answers a request. Whether the connection stays open for another one.
Answering = Callable[[Exchange], bool]


class Receiver(Listener):
    """An HTTPS server. ``answer`` is what it does with each request, 200 to begin with."""

    def __init__(self, certificate: Path, *, address: str = "127.0.0.1", port: int = 0) -> None:
        self.requests: list[Received] = []
        self.answer: Answering = answering()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)
        self.names: list[str | None] = []  # that clients asked for in TLS (SNI)
        self.context.set_alpn_protocols(["h2", "http/1.1"])
        self.protocols: list[str | None] = []  # that were agreed on in TLS (ALPN)
        self.context.sni_callback = lambda _, name, __: self.names.append(name)
        super().__init__(self._converse, address=address, port=port)

    def _converse(self, connection: socket.socket) -> None:
        number = self.connections
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        secured = self._secure(connection)
        with self._known(secured), secured.makefile("rb") as reader:
            while (request := _read(reader, number)) is not None:
                self.requests.append(request)
                if not self.answer(Exchange(self, secured, request)):
                    return

    def _secure(self, connection: socket.socket) -> socket.socket:
        secured = self.context.wrap_socket(connection, server_side=True)
        self.protocols.append(secured.selected_alpn_protocol())
        return secured


class PlainReceiver(Receiver):
    """A receiver without TLS."""

    scheme = "http"

    def _secure(self, connection: socket.socket) -> socket.socket:
        return connection


def _read(reader: Any, number: int) -> Received | None:
    line = reader.readline().decode("latin-1").split()
    if len(line) != 3:
        return None
    headers = {}
    while entry := reader.readline().decode("latin-1").strip():
        name, _, value = entry.partition(":")
        headers[name.lower()] = value.strip()
    body = reader.read(int(headers.get("content-length", 0)))
    return Received(line[0], line[1], headers, body, number)


def head(status: int, headers: Mapping[str, str] | None = None) -> bytes:
    """Status line and headers of an answer."""
    lines = [f"HTTP/1.1 {status} Said", *(f"{n}: {v}" for n, v in (headers or {}).items())]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()


def answering(
    status: int = 200,
    body: bytes = b"{}",
    *,
    headers: Mapping[str, str] | None = None,
    delay: float = 0.0,
) -> Answering:
    """A complete answer; the connection stays open."""
    length = {"Content-Length": str(len(body))}
    whole = head(status, {**_KEEP_ALIVE, **length, **(headers or {})}) + body

    def answer(exchange: Exchange) -> bool:
        if delay:
            exchange.receiver.pause(delay)
        exchange.send(whole)
        return True

    return answer


def saying(data: bytes, *, stays_open: bool = False) -> Answering:
    """These bytes, and then the end, or the next request."""

    def answer(exchange: Exchange) -> bool:
        exchange.send(data)
        return stays_open

    return answer


def dripping(at_once: bytes, data: bytes, every: float = 1.0) -> Answering:
    """Some bytes at once, and the others one by one."""

    def answer(exchange: Exchange) -> bool:
        exchange.send(at_once)
        exchange.drip(data, every)
        return False

    return answer


def repeating(at_once: bytes, piece: bytes, times: int) -> Answering:
    """Some bytes, and then the same piece again and again."""

    def answer(exchange: Exchange) -> bool:
        exchange.send(at_once)
        for _ in range(times):
            exchange.send(piece)
        return False

    return answer


def closing_at_once() -> Answering:
    """The end, instead of an answer."""
    return saying(b"")


def in_turn(*answers: Answering) -> Answering:
    """One answer after the other; the last one again and again."""
    left = list(answers)

    def answer(exchange: Exchange) -> bool:
        return (left.pop(0) if len(left) > 1 else left[0])(exchange)

    return answer
