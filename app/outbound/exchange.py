"""One request over a connection, and its response."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from typing import Any, Final

from app.outbound.attempt import Attempt, EgressError
from app.outbound.connection import Connection, TooLong
from app.outbound.targets import UrlTarget
from app.policy.deliveries import RESPONSE_BYTES, FailureReason
from app.policy.egress import BODY_SECONDS, HEAD_BYTES
from app.values.deadline import Deadline

_CHUNK: Final = 16 * 1024
_SWITCHING_PROTOCOLS: Final = 101
# Errors while waiting for a response; the first that matches counts.
_REASONS: Final[tuple[tuple[type[Exception], FailureReason], ...]] = (
    (TimeoutError, FailureReason.SLOW_RESPONSE),
    (TooLong, FailureReason.NOT_HTTP),
    (ConnectionError, FailureReason.CLOSED),  # and http.client's RemoteDisconnected
    (ssl.SSLEOFError, FailureReason.CLOSED),
    (ssl.SSLZeroReturnError, FailureReason.CLOSED),
    (ssl.SSLError, FailureReason.TLS),  # such as a demand for a certificate of ours
    (OSError, FailureReason.CLOSED),
    (HTTPException, FailureReason.NOT_HTTP),
    (ValueError, FailureReason.NOT_HTTP),  # http.client's for a chunk of negative length
)


class Response:
    """A response whose head has been read; the body is read on demand."""

    def __init__(self, connection: Connection, response: HTTPResponse, deadline: Deadline) -> None:
        self.status = response.status
        self.headers = response.headers
        self.connection = connection
        self._response = response
        self._deadline = deadline

    def read(self, max_size: int) -> bytes:
        """Read the whole body. It is not decompressed.

        Raises:
            TooLong: it has more than ``max_size`` bytes.
            EgressError: it is incomplete, or did not come in time.
        """
        return b"".join(self.pieces(max_size))

    def pieces(self, max_size: int) -> Iterator[bytes]:
        """Yield the body piece by piece, as it comes. Raises, also after some, as ``read``."""
        self.connection.allow(self._deadline, 2 * max_size)  # with the framing of chunks
        size = 0
        try:
            while chunk := self._response.read(_CHUNK):
                size += len(chunk)
                if size > max_size:
                    raise TooLong
                yield chunk
        except TooLong:
            raise
        except (OSError, HTTPException, ValueError) as error:
            raise EgressError(_failure_reason(error, self.connection)) from None
        if self._response.length:  # bytes are missing, for which http.client raises nothing
            raise EgressError(FailureReason.CLOSED)

    def skip(self) -> bool:
        """Skip the body, unless it is long. Returns True if the connection can be used again."""
        self.connection.allow(self._deadline.within(BODY_SECONDS), RESPONSE_BYTES)
        left = RESPONSE_BYTES
        try:
            while left and (chunk := self._response.read(min(left, _CHUNK))):
                left -= len(chunk)
        except (OSError, HTTPException, ValueError):
            return False
        return self.is_over

    @property
    def is_over(self) -> bool:
        """True if all of it was read, and the connection can be used again."""
        is_last = self.status == _SWITCHING_PROTOCOLS or self._response.will_close
        return self._response.isclosed() and not (is_last or self.connection.has_ended)


def compose_request(
    method: str, target: UrlTarget, headers: Mapping[str, str], body: bytes
) -> bytes:
    """Return the bytes of a request, in one piece.

    Raises:
        ValueError: a header cannot be sent.
    """
    lines = [
        f"{method} {target.request_target} HTTP/1.1",
        f"Host: {target.authority}",
        *(f"{name}: {value}" for name, value in {"Accept": "*/*", **headers}.items()),
    ]
    if method != "GET":
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join(lines)
    if not head.count("\r") == head.count("\n") == len(lines) - 1:
        raise ValueError("A header must not contain a line break.")
    return f"{head}\r\n\r\n".encode("latin-1") + body


def send_request(connection: Connection, request: bytes, attempt: Attempt) -> Response:
    """Send a request, and read the head of its response.

    Raises:
        EgressError: there was no status in time. The connection is closed.
    """
    connection.begin(attempt.deadline, HEAD_BYTES)
    readable: Any = connection  # HTTPResponse only calls ``makefile``
    response = HTTPResponse(readable)
    try:
        with attempt.phase("wait_ms"):
            _send_request(connection, request)
            _read_head(connection, response)
    except (OSError, HTTPException) as error:
        connection.close()
        raise EgressError(_failure_reason(error, connection)) from None
    return Response(connection, response, attempt.deadline)


def _send_request(connection: Connection, request: bytes) -> None:
    # A peer may respond and close before it has read the whole request; its response counts.
    with suppress(ConnectionError, ssl.SSLEOFError):
        connection.sendall(request)


def _read_head(connection: Connection, response: HTTPResponse) -> None:
    response.begin()
    while 100 <= response.status < 200 and response.status != _SWITCHING_PROTOCOLS:
        response.headers = None  # type: ignore[assignment]  # else begin() would do nothing
        response.begin()
    if connection.has_ended:  # http.client takes that for the end of the head
        raise ConnectionError


def _failure_reason(error: Exception, connection: Connection) -> FailureReason:
    if connection.has_ended:  # whatever http.client made of a partial line
        return FailureReason.CLOSED
    return next(reason for kind, reason in _REASONS if isinstance(error, kind))
