"""One request over a connection, and what is read of its response."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from contextlib import closing, suppress
from http.client import HTTPException, HTTPResponse
from typing import Any, Final, NamedTuple

from app.outbound.attempt import Attempt, EgressError
from app.outbound.securing import SecureConnection, TooLong
from app.outbound.targets import Target
from app.policy.deliveries import RESPONSE_BYTES, FailureReason
from app.policy.egress import BODY_SECONDS, HEAD_BYTES

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
)


class Exchanged(NamedTuple):
    """The status of the response, and whether the connection can be used again."""

    status: int
    is_reusable: bool


def compose(target: Target, body: bytes, headers: Mapping[str, str]) -> bytes:
    """The bytes of a POST, in one piece, so that they are sent as one.

    Raises:
        ValueError: a header cannot be sent.
    """
    lines = [
        f"POST {target.request_target} HTTP/1.1",
        f"Host: {target.authority}",
        "Accept: */*",
        *(f"{name}: {value}" for name, value in headers.items()),
        f"Content-Length: {len(body)}",
    ]
    head = "\r\n".join(lines)
    if not head.count("\r") == head.count("\n") == len(lines) - 1:
        raise ValueError("A header must not contain a line break.")
    return f"{head}\r\n\r\n".encode("latin-1") + body


def exchange(connection: SecureConnection, request: bytes, attempt: Attempt) -> Exchanged:
    """Send a request, and read its response, the body within limits.

    Raises:
        EgressError: there was no status in time. The connection cannot be used again.
    """
    connection.begin(attempt.deadline, HEAD_BYTES)
    readable: Any = connection  # HTTPResponse only calls ``makefile``
    with closing(HTTPResponse(readable, method="POST")) as response:
        try:
            with attempt.phase("wait_ms"):
                _send(connection, request)
                _read_head(connection, response)
        except (OSError, HTTPException) as error:
            raise EgressError(_reason(error, connection)) from None
        return Exchanged(response.status, _read_body(connection, response))


def _send(connection: SecureConnection, request: bytes) -> None:
    # A peer may reject a request before it has read it all, and close; its response still counts.
    with suppress(ConnectionError, ssl.SSLEOFError):
        connection.sendall(request)


def _read_head(connection: SecureConnection, response: HTTPResponse) -> None:
    response.begin()
    while 100 <= response.status < 200 and response.status != _SWITCHING_PROTOCOLS:
        response.headers = None  # type: ignore[assignment]  # http.client takes 103 as the response
        response.begin()
    if connection.has_ended:  # http.client takes it for the end of the head
        raise ConnectionError


def _reason(error: Exception, connection: SecureConnection) -> FailureReason:
    if connection.has_ended:  # whatever http.client made of a partial line
        return FailureReason.CLOSED
    return next(reason for kind, reason in _REASONS if isinstance(error, kind))


def _read_body(connection: SecureConnection, response: HTTPResponse) -> bool:
    """Read on to where the next response would begin. Returns whether that succeeded."""
    connection.deadline = connection.deadline.within(BODY_SECONDS)
    connection.allowance = left = RESPONSE_BYTES
    try:
        while left and (chunk := response.read(min(left, _CHUNK))):
            left -= len(chunk)
    except (OSError, HTTPException, ValueError):
        return False
    is_over = response.status == _SWITCHING_PROTOCOLS or response.will_close
    return response.isclosed() and not (is_over or connection.has_ended)
