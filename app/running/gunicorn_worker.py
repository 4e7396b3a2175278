"""What the web server says by itself.

It refuses a request so malformed that the application never sees it. gunicorn would answer with a
page of HTML and log what was sent, which may hold a secret. Here the answer is the envelope of
every other error, and the log line says only what was wrong.

And it would name itself in the header ``Server`` of every answer.
"""

from __future__ import annotations

import contextlib
import logging
from http import HTTPStatus
from typing import Any, Final

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.http import errors, wsgi  # type: ignore[import-untyped]

from app.http.middleware import SECURITY_HEADERS
from app.running.slow_clients import SlowClientsWorker
from app.values.ids import new_id
from app.values.strict_json import dumps

log = logging.getLogger(__name__)

_OURS: Final = (errors.InvalidResponseHeader, errors.InvalidResponseHeaderName)
# The first kind that fits decides; ``limits`` are the settings of the web server.
_MALFORMED: Final[tuple[tuple[type[Exception], int, str], ...]] = (
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
    (errors.InvalidHeader, 400, "A header field is malformed, or sent twice."),
    (errors.InvalidHeaderName, 400, "The name of a header field is malformed."),
    (errors.ObsoleteFolding, 400, "A header field runs over several lines: send it in one."),
    (errors.ParseException, 400, "The request is not valid HTTP/1.1."),
)


class NamelessResponse(wsgi.Response):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's writer of responses, without ``Server``."""

    def default_headers(self) -> list[str]:
        lines: list[str] = super().default_headers()
        return [line for line in lines if not line.startswith("Server:")]


wsgi.Response = NamelessResponse  # it has no setting for it


class EnvelopeWorker(SlowClientsWorker):
    """gunicorn's worker with threads, which refuses as the application does."""

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Answer a request that failed outside the application; gunicorn closes the connection."""
        fields = {"request_id": new_id("request")}
        if isinstance(exc, errors.ParseException) and not isinstance(exc, _OURS):
            if req is not None:  # answered already; what follows it cannot be read
                return
            status, message = _malformed(exc, self.cfg)
            log.warning("malformed request: %s", type(exc).__name__, extra={"fields": fields})
        else:
            status, message = 500, "The service failed to answer this request."
            log.error("the web server failed to answer", exc_info=exc, extra={"fields": fields})
        with contextlib.suppress(OSError):  # the client is gone
            util.write_nonblock(client, _answer(status, message, fields["request_id"]))


def _malformed(exc: Exception, limits: Any) -> tuple[int, str]:
    """The status and what the client can do about it."""
    status, message = next(row[1:] for row in _MALFORMED if isinstance(exc, row[0]))
    return status, message.format(limits=limits)


def _answer(status: int, message: str, request_id: str) -> bytes:
    """The whole response, head and body."""
    code = "INTERNAL_ERROR" if status == 500 else "VALIDATION_ERROR"
    error = {"code": code, "message": message, "details": []}
    body = dumps({"error": error, "meta": {"request_id": request_id}})
    headers = [
        ("Connection", "close"),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        ("X-Request-Id", request_id),
        *SECURITY_HEADERS,
    ]
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers]
    head = "\r\n".join([*lines, "", ""])
    return head.encode() + body
