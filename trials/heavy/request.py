"""A request, as it is sent."""

from __future__ import annotations

import contextlib
import http.client
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

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
