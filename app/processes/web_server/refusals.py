"""Responses to requests that the web server refuses before the application sees them."""

from __future__ import annotations

import contextlib
import socket
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.http import errors  # type: ignore[import-untyped]

from app.http.middleware import SECURITY_HEADERS
from app.processes.web_server.request_buffer import RequestProgress
from app.values.ids import new_id
from app.values.strict_json import dumps

MAX_HEAD: Final = 64 * 1024  # bytes


class Refusal(NamedTuple):
    """A status, and a message that says what the client can do."""

    status: int
    message: str


_CODES: Final = {500: "INTERNAL_ERROR", 503: "SERVICE_UNAVAILABLE"}  # else the client's fault
_RETRY_AFTER: Final = 2  # seconds

FAILED: Final = Refusal(500, "The service failed to answer this request.")
TOO_SLOW: Final = Refusal(408, "The request did not arrive in time: send all of it at once.")
NO_ROOM: Final = Refusal(503, "The service is receiving too much at the moment. Try again shortly.")
TOO_MANY_LARGE: Final = Refusal(
    503, "Too many large requests are being processed. Try again shortly."
)
STOPPING: Final = Refusal(503, "The service is restarting. Try again shortly.")
BY_PROGRESS: Final = {
    RequestProgress.HEAD_TOO_LARGE: Refusal(
        431, f"The header fields are longer than {MAX_HEAD:,} bytes."
    ),
    RequestProgress.CHUNKS_TOO_SMALL: Refusal(400, "The chunks of the body are too small."),
}

_OUR_FAULT: Final = (errors.InvalidResponseHeader, errors.InvalidResponseHeaderName)
# The first class that matches decides; ``limits`` is gunicorn's configuration.
MALFORMED_REQUESTS: Final[tuple[tuple[type[Exception], int, str], ...]] = (
    (
        errors.LimitRequestLine,
        414,
        "The request line is longer than {limits.limit_request_line:,} bytes: shorten the address.",
    ),
    (
        errors.LimitRequestHeaders,
        431,
        "Send at most {limits.limit_request_fields} header fields, "
        "none longer than {limits.limit_request_field_size:,} bytes.",
    ),
    (errors.ExpectationFailed, 417, "The header Expect can only hold 100-continue."),
    (errors.UnsupportedTransferCoding, 501, "The header Transfer-Encoding can only hold chunked."),
    (
        errors.InvalidRequestLine,
        400,
        "The request line is not valid HTTP/1.1. Percent-encode what is not ASCII in the address, "
        "such as %C3%A4 for ä.",
    ),
    (errors.InvalidHeader, 400, "A header field is malformed, or sent twice."),
    (errors.InvalidHeaderName, 400, "The name of a header field is malformed."),
    (errors.ObsoleteFolding, 400, "A header field runs over several lines: send it in one."),
    (errors.ParseException, 400, "The request is not valid HTTP/1.1."),
)


def is_malformed_request(exc: Exception) -> bool:
    """True if gunicorn's error is the client's fault."""
    return isinstance(exc, errors.ParseException) and not isinstance(exc, _OUR_FAULT)


def refusal_of(exc: Exception, limits: Any) -> Refusal:
    """Return the response to a malformed request."""
    status, message = next(row[1:] for row in MALFORMED_REQUESTS if isinstance(exc, row[0]))
    return Refusal(status, message.format(limits=limits))


def send_refusal(sock: socket.socket, refusal: Refusal) -> dict[str, str]:
    """Send a response without waiting. Returns fields for the log. Close the connection after
    it."""
    request_id = new_id("request")
    with contextlib.suppress(OSError):  # the client is gone
        util.write_nonblock(sock, _response_bytes(refusal, request_id))
    return {"request_id": request_id}


def _response_bytes(refusal: Refusal, request_id: str) -> bytes:
    """Compose a whole HTTP response, head and body."""
    status, message = refusal
    error = {"code": _CODES.get(status, "VALIDATION_ERROR"), "message": message, "details": []}
    body = dumps({"error": error, "meta": {"request_id": request_id}})
    headers = [
        ("Connection", "close"),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        ("X-Request-Id", request_id),
        *([("Retry-After", str(_RETRY_AFTER))] if status == HTTPStatus.SERVICE_UNAVAILABLE else []),
        *SECURITY_HEADERS,
    ]
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers]
    head = "\r\n".join([*lines, "", ""])
    return head.encode() + body
