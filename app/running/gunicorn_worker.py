"""gunicorn's threaded worker, changed in five ways.

* Slow and idle clients do not hold it up. A process has a few threads that read requests and send
  responses, and one that accepts connections. Four kinds of clients would block them, so each has a
  time limit: one that connects and sends nothing, one that does not send the rest of its request,
  one that does not read its response, and one that does not close its connection afterwards. A
  proxy that buffers whole requests and responses keeps such clients away altogether.
* A request so malformed that the application never sees it gets the error envelope of the service
  instead of a page of HTML.
* The log says only what was wrong with such a request, not what was sent: that may hold a secret.
* Responses have no ``Server`` header.
* A process that holds more kept-alive connections than another closes some of them after a
  response, so that they spread over the processes (``app.running.connection_counts``).

gunicorn has no settings for these, so this module uses names that gunicorn does not document, and
no other module does. ``GUNICORN_VERSION`` is the version that they were read in; requirements.in
pins it, and ``tests/running/test_library_internals.py`` compares the names.
"""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
import struct
import time
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.http import errors, wsgi  # type: ignore[import-untyped]
from gunicorn.workers.gthread import _DEFER, ThreadWorker  # type: ignore[import-untyped]

from app.http.middleware import SECURITY_HEADERS
from app.running.connection_counts import ConnectionCount
from app.values.ids import new_id
from app.values.strict_json import dumps

log = logging.getLogger(__name__)

GUNICORN_VERSION: Final = "27.0.1"

REQUEST_TIMEOUT: Final = 20.0  # seconds for a whole request; 16 MB at 7 Mbit/s
SEND_TIMEOUT: Final = 20  # seconds until the client reads more of its response
EXCHANGE_TIMEOUT: Final = 300.0  # seconds, from the request to the last byte of its response
CLOSE_TIMEOUT: Final = 2.0  # seconds for a client to close after its response
_MAX_CLOSING: Final = 500  # connections; any more are closed at once
_MAX_DRAINED: Final = 64 * 1024  # bytes

_OUR_FAULT: Final = (errors.InvalidResponseHeader, errors.InvalidResponseHeaderName)
# The first class that matches decides; ``limits`` are the settings of the web server.
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
    (errors.InvalidHeader, 400, "A header field is malformed, or sent twice."),
    (errors.InvalidHeaderName, 400, "The name of a header field is malformed."),
    (errors.ObsoleteFolding, 400, "A header field runs over several lines: send it in one."),
    (errors.ParseException, 400, "The request is not valid HTTP/1.1."),
)


class ResponseWithoutServer(wsgi.Response):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's response, without the header ``Server``."""

    def default_headers(self) -> list[str]:
        lines: list[str] = super().default_headers()
        return [line for line in lines if not line.startswith("Server:")]


wsgi.Response = ResponseWithoutServer


class EnvelopeWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """The worker class of the service."""

    def init_process(self) -> None:
        self._started: dict[Any, float] = {}  # connection -> when a thread began with its request
        self._closing: dict[socket.socket, tuple[float, int]] = {}  # -> deadline, bytes drained
        self._count = ConnectionCount(self.age)
        super().init_process()

    def notify(self) -> None:
        """Show that this process is alive. gunicorn calls this at least every second."""
        super().notify()
        if self.alive:
            self._count.write(self.nr_conns)

    def handle(self, conn: Any) -> Any:
        """Handle one request. Runs in a thread of the pool."""
        if not conn.initialized and not conn.wait_for_data(0):
            return _DEFER  # nothing was sent yet; gunicorn would block this thread for 5 seconds
        conn.close = partial(self._close, conn.sock)
        self._started[conn] = time.monotonic()
        try:
            return super().handle(conn)
        finally:
            self._started.pop(conn, None)

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Run the application and send its response."""
        timeout = struct.pack("ll", SEND_TIMEOUT, 0)
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
        if self._count.should_close_one(self.nr_conns):
            req.force_close()
        try:
            return super().handle_request(req, conn)
        except BlockingIOError:
            return False  # the client stopped reading

    def murder_pending(self) -> None:
        """End exchanges and connections past their limits. gunicorn calls this every second."""
        super().murder_pending()
        now = time.monotonic()
        for conn, started in list(self._started.items()):
            if now - started > REQUEST_TIMEOUT:
                is_over = now - started > EXCHANGE_TIMEOUT
                with contextlib.suppress(OSError):
                    conn.sock.shutdown(socket.SHUT_RDWR if is_over else socket.SHUT_RD)
        for sock, (deadline, _) in list(self._closing.items()):
            if now > deadline:
                self._finish_closing(sock)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Respond to a request that failed outside the application; gunicorn then closes the
        connection."""
        fields = {"request_id": new_id("request")}
        if isinstance(exc, errors.ParseException) and not isinstance(exc, _OUR_FAULT):
            if req is not None:  # it has its response; only what follows it is malformed
                return
            status, message = _describe(exc, self.cfg)
            log.warning("malformed request: %s", type(exc).__name__, extra={"fields": fields})
        else:
            status, message = 500, "The service failed to answer this request."
            log.error("the web server failed to answer", exc_info=exc, extra={"fields": fields})
        with contextlib.suppress(OSError):  # the client is gone
            util.write_nonblock(client, _error_response(status, message, fields["request_id"]))

    def _close(self, sock: socket.socket, graceful: bool = False) -> None:
        """Close a connection; with ``graceful`` once the client has closed it too, as the end of a
        response could be lost otherwise. gunicorn would wait for that on the accepting thread."""
        if not graceful or len(self._closing) >= _MAX_CLOSING:
            util.close(sock)
            return
        try:
            sock.shutdown(socket.SHUT_WR)
            sock.setblocking(False)
            self.poller.register(sock, selectors.EVENT_READ, self._drain)
        except (OSError, ValueError, KeyError):
            util.close(sock)
            return
        self._closing[sock] = (time.monotonic() + CLOSE_TIMEOUT, 0)

    def _drain(self, sock: socket.socket) -> None:
        """Read what a client still sends on a connection that is being closed."""
        deadline, drained = self._closing[sock]
        try:
            data = sock.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._closing[sock] = deadline, drained + len(data)
        if not data or drained > _MAX_DRAINED:
            self._finish_closing(sock)

    def _finish_closing(self, sock: socket.socket) -> None:
        del self._closing[sock]
        with contextlib.suppress(OSError, KeyError, ValueError):
            self.poller.unregister(sock)
        util.close(sock)


def _describe(exc: Exception, limits: Any) -> tuple[int, str]:
    """The status of a malformed request, and what the client can do about it."""
    status, message = next(row[1:] for row in MALFORMED_REQUESTS if isinstance(exc, row[0]))
    return status, message.format(limits=limits)


def _error_response(status: int, message: str, request_id: str) -> bytes:
    """A whole HTTP response, head and body."""
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
