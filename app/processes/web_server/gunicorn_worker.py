"""gunicorn's threaded worker, changed in eight ways.

* Slow and idle clients do not hold it up. A process has a few threads that run the application,
  and one, the poller, that waits for all connections. The poller collects a request
  (``request_buffer``), and gives it to a thread once all of it is there or it is certain to be
  refused; a thread never reads from a connection. Requests that are not complete in time get 408,
  requests that do not fit get 503. The poller sends the part of a response that a client does not
  read at once (``response_buffer``), and waits for the client to close; both for a limited time.
* Those who send requests (``senders``) take turns where requests wait for a thread. Whoever sends
  many at once leaves a thread to the others, and expensive requests have half of the threads.
* Large requests have a few of the threads at most, and further ones get 503.
* ``/healthz`` and ``/readyz`` have a thread each, so that only others of their kind can keep them
  waiting.
* A request so malformed that the application never sees it gets the service's error envelope.
* The log says only what was wrong with such a request, not what was sent: that may hold a secret.
* Responses have no ``Server`` header.
* A process that holds more kept-alive connections than another closes some of them after a
  response, so that they spread over the processes (``app.processes.web_server.connection_counts``).

Connections are plain HTTP/1.1: gunicorn's TLS and HTTP/2 are not configured, and would not work.

gunicorn has no settings for these changes, so this package overrides names that gunicorn does not
document, and no other package does. ``GUNICORN_VERSION`` is the version that they were read in;
requirements.in pins it, and ``tests/processes/test_library_internals.py`` compares the names.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.http import get_parser, wsgi  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

from app.policy.bounds import EXPENSIVE_WAITING
from app.processes.web_server import refusals
from app.processes.web_server.arriving import ArrivingRequests
from app.processes.web_server.connection_counts import (
    ConnectionCount,
    connections_within_open_files,
)
from app.processes.web_server.lingering_close import MAX_CLOSING, LingeringClose
from app.processes.web_server.refusals import MAX_HEAD, Refusal
from app.processes.web_server.request_buffer import (
    ByteBudget,
    RequestBuffer,
    RequestLimits,
    RequestProgress,
    Storage,
)
from app.processes.web_server.response_buffer import ResponseBuffer, SlowReaders
from app.processes.web_server.senders import SendersTurns, sender_of

log = logging.getLogger(__name__)

GUNICORN_VERSION: Final = "27.0.1"

MAX_IN_MEMORY: Final = 32 * 1024 * 1024  # bytes of the large requests of a process
MAX_IN_FILES: Final = 256 * 1024 * 1024
_LAST_ANSWERS: Final = 2.0  # seconds of graceful_timeout in which no more requests are collected
_PAUSE: Final = 0.05  # seconds
_OUT_OF_FILES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class BufferedResponse(wsgi.Response):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's response. It does not wait for its client, and has no ``Server`` header."""

    def __init__(self, req: Any, sock: socket.socket, cfg: Any) -> None:
        super().__init__(req, req.response, cfg)

    def can_sendfile(self) -> bool:
        return False  # it would wait

    def default_headers(self) -> list[str]:
        lines: list[str] = super().default_headers()
        return [line for line in lines if not line.startswith("Server:")]


wsgi.Response = BufferedResponse


class EnvelopeWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """The worker class of the service. A connection is in a thread, or the poller waits for it: for
    its first request (``pending_conns``), the rest of a request (``_collecting``), its client to
    read a response (``_reading``), its next request (``keepalived_conns``), or its end
    (``_lingering``)."""

    max_body_bytes = 16 * 1024 * 1024  # gunicorn.conf.py sets MAX_BODY_BYTES
    max_upload_bytes = 0  # and what an upload of MAX_IMPORT_BYTES takes
    trusted_proxies = 0

    def init_process(self) -> None:
        self._collecting = ArrivingRequests()
        self._reading = SlowReaders(super().finish_request, self._drop)
        self._large: set[Any] = set()  # connections whose large request has a thread, or waits
        self._health_threads = {
            check: ThreadPoolExecutor(max_workers=1) for check in (b"healthz", b"readyz")
        }
        self._turns = SendersTurns(self.cfg.threads)
        self._most_large = min(1 + EXPENSIVE_WAITING, max(1, self.cfg.threads - 1))
        self._lingering = LingeringClose()
        self._collect_until = float("inf")  # when it is stopping
        self._is_out_of_files = False
        self._count = ConnectionCount(self.age)
        self._limits = RequestLimits(
            self.cfg.limit_request_line, MAX_HEAD, self.max_body_bytes, self.max_upload_bytes
        )
        self._storage = Storage(
            self.cfg.tmp_upload_dir, ByteBudget(MAX_IN_MEMORY), ByteBudget(MAX_IN_FILES)
        )
        wanted = int(self.cfg.worker_connections)
        self.worker_connections = connections_within_open_files(wanted, MAX_CLOSING)
        super().init_process()

    def notify(self) -> None:
        """Show that this process is alive. gunicorn calls this at least every second."""
        super().notify()
        if self.alive:
            self._count.write(self._connections_in_use())

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection."""
        try:
            super().accept(listener)
        except OSError as error:
            if error.errno not in _OUT_OF_FILES:
                raise
            self._is_out_of_files = True

    def enqueue_req(self, conn: Any) -> None:
        """Give a connection to a thread as soon as its next request is there. gunicorn calls this
        for a connection that is new or readable, or has sent more than a request already."""
        conn.close = partial(self._close, conn.sock)
        conn.request, conn.response = RequestBuffer(self._limits, self._storage), None
        ahead = conn.parser.unreader.take_buffered() if conn.parser else b""
        if ahead:
            self._add(conn, ahead)
        else:
            self._collect(conn)

    def handle(self, conn: Any) -> Any:
        """Handle one request. Runs in one of the threads, not in the poller."""
        is_kept = super().handle(conn)
        if is_kept and (rest := b"".join(conn.pieces)):
            unreader = conn.parser.unreader
            unreader.unread(unreader.take_buffered() + rest)
        return is_kept

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Run the application and send its response."""
        req.response = conn.response = ResponseBuffer(conn.sock)
        req._expected_100_continue = False  # that was sent, or is not needed anymore
        if not conn.request.is_complete or self._count.should_close_one(self._connections_in_use()):
            req.force_close()
        is_kept = super().handle_request(req, conn)
        if is_kept:
            # What the application has not read of the body is here. gunicorn would read 64 KB of
            # it, then close a connection of which the response said that it stays open.
            conn.parser.finish_body()
        return is_kept

    def finish_request(self, conn: Any, fs: Any) -> None:
        """Close or keep a connection after its request, once its client has read the response."""
        conn.request.close()
        self._large.discard(conn)
        if conn.sender is not None:
            self._turns.remove(conn)
            self._start_waiting()
        if conn.response and conn.response.size:
            self._reading.add(conn, fs, self.poller)
        else:
            super().finish_request(conn, fs)

    def murder_pending(self) -> None:
        """End exchanges and connections past their limits. gunicorn calls this every second, and
        after each event of a connection."""
        super().murder_pending()
        if self._is_out_of_files or self.nr_conns >= self.worker_connections:
            self._make_room()
        now = time.monotonic()
        self._end_collecting(now)
        self._reading.end_expired(self.poller)
        self._lingering.end_expired(self.poller)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Respond to a request that failed outside the application; gunicorn then closes the
        connection."""
        if not refusals.is_malformed_request(exc):
            fields = refusals.send(client, refusals.FAILED)
            log.error("the web server failed to answer", exc_info=exc, extra={"fields": fields})
        elif req is None:  # else it has its response; only what follows it is malformed
            fields = refusals.send(client, refusals.refusal_of(exc, self.cfg))
            log.warning("malformed request: %s", type(exc).__name__, extra={"fields": fields})

    def _connections_in_use(self) -> int:
        """The number of connections that are in a thread, or kept alive between two requests."""
        slow = len(self._collecting) + len(self._reading) + len(self.pending_conns)
        return int(self.nr_conns) - slow

    def _collect(self, conn: Any, _: object = None) -> None:
        """Read the part of a request that has arrived."""
        try:
            data = conn.sock.recv(conn.request.wanted, socket.MSG_DONTWAIT)
        except BlockingIOError:
            self._wait(conn)
        except OSError:
            self._drop(conn)
        else:
            self._add(conn, data)

    def _add(self, conn: Any, data: bytes) -> None:
        """Process the next bytes of a request; without any, the client has sent its last."""
        framer = conn.request.framer
        if not data and not framer.has_head:
            self._drop(conn)
            return
        try:
            progress = conn.request.add(data) if data else RequestProgress.MALFORMED
            if progress is not RequestProgress.INCOMPLETE:
                peer = conn.client[0] if conn.client else ""  # none on a Unix socket
                conn.sender = sender_of(framer.head, peer, self.trusted_proxies)
            if progress is RequestProgress.INCOMPLETE:
                self._wait(conn)
            elif progress in refusals.OF_PROGRESS:
                self._refuse(conn, refusals.OF_PROGRESS[progress])
            elif conn.request.is_large and not self._has_place_for(conn):
                self._refuse(conn, refusals.TOO_MANY_LARGE)
            else:
                self._hand_over(conn, conn.request.pieces())
        except OSError:
            self._refuse(conn, refusals.NO_ROOM)

    def _hand_over(self, conn: Any, pieces: Iterator[bytes]) -> None:
        """Let a thread answer a request: gunicorn's parser reads these bytes, and then the end."""
        self._stop_collecting(conn)
        if conn.request.is_large:
            self._large.add(conn)
        conn.pieces = pieces
        conn.parser = get_parser(self.cfg, pieces, conn.client)
        conn.initialized = True
        if check := conn.request.health_check:
            conn.sender = None
            self._start(conn, self._health_threads[check])
        else:
            self._turns.add(conn)
            self._start_waiting()

    def _start_waiting(self) -> None:
        """Let the threads that are free handle requests that wait."""
        while (conn := self._turns.take()) is not None:
            self._start(conn, self.tpool)

    def _start(self, conn: Any, threads: Any) -> None:
        """Let a thread handle a request."""
        handled = threads.submit(self.handle, conn)
        handled.add_done_callback(
            lambda outcome: self.method_queue.defer(self.finish_request, conn, outcome)
        )

    def _has_place_for(self, conn: Any) -> bool:
        """Return whether a thread may answer a large request: few of them at once, and all but one
        of the same sender."""
        senders = [each.sender for each in self._large]
        own = senders.count(conn.sender)
        most: int = self._most_large
        return len(senders) < most and own < max(1, most - 1)

    def _wait(self, conn: Any) -> None:
        """Wait until more of a request can be read."""
        now, framer = time.monotonic(), conn.request.framer
        if conn.request.is_empty:
            conn.timeout = now + self.cfg.keepalive
            self.pending_conns.append(conn)
            self._watch(conn, self.on_pending_socket_readable)
        elif conn not in self._collecting:
            self._collecting.add(conn, now)
            self._watch(conn, self._collect)
        if framer.expects_continue:
            framer.expects_continue = False
            with contextlib.suppress(OSError):
                conn.sock.send(_CONTINUE, socket.MSG_DONTWAIT)

    def _watch(self, conn: Any, callback: Callable[..., None]) -> None:
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(callback, conn))

    def _stop_collecting(self, conn: Any) -> None:
        if self._collecting.remove(conn):
            self.poller.unregister(conn.sock)

    def _drop(self, conn: Any) -> None:
        """Close a connection whose client is gone."""
        self._stop_collecting(conn)
        conn.request.close()
        self.nr_conns -= 1
        conn.close()

    def _refuse(self, conn: Any, refusal: Refusal, *, graceful: bool = True) -> None:
        """Answer a request that got no thread, and close its connection."""
        self._stop_collecting(conn)
        conn.request.close()
        self.nr_conns -= 1
        fields = refusals.send(conn.sock, refusal)
        log.info("request refused with %d", refusal.status, extra={"fields": fields})
        conn.close(graceful=graceful)

    def _end_collecting(self, now: float) -> None:
        """Refuse requests that take too long to arrive, and all of them when this process is to end
        soon."""
        if not self.alive:
            soon = now + self.cfg.graceful_timeout - _LAST_ANSWERS
            self._collect_until = min(self._collect_until, soon)
        refusal = refusals.STOPPING if now > self._collect_until else refusals.TOO_SLOW
        for conn in self._collecting.expired(now, self._collect_until):
            self._refuse(conn, refusal)

    def _make_room(self) -> None:
        """Close the connection that has been waited for longest, of the kind that has the most. Not
        to be called for an event of the poller: it may have others of the same connection."""
        kinds = (self._collecting, self._reading, self.pending_conns, self.keepalived_conns)
        waiting: Any = max(kinds, key=len)
        if waiting is self._reading and waiting:
            self._reading.drop_oldest(self.poller)
        elif waiting is self._collecting and waiting:
            self._refuse(self._collecting.oldest, refusals.NO_ROOM, graceful=False)
        elif waiting:
            waiting[0].timeout = 0.0
            super().murder_pending()
            self.murder_keepalived()
        elif self._is_out_of_files:
            time.sleep(_PAUSE)  # threads have them all, and give some back soon
        self._is_out_of_files = False

    def _close(self, sock: socket.socket, graceful: bool = False) -> None:
        """Close a connection; ``graceful`` after a response. gunicorn would wait for the client."""
        if graceful:
            self._lingering.begin(sock, self.poller)
        else:
            util.close(sock)
