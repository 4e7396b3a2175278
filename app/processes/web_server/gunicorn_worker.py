"""A gunicorn worker whose threads never wait for a client.

* A process has one thread more than answer requests. One of them, the leader, waits for all
  connections and collects their requests (``request_buffer``). Once a request is complete, or
  certain to be refused, the leader answers it, and another thread leads. Requests that are not
  complete in time get 408, requests that do not fit get 503. Below ``/v1``, ``/ogc`` and ``/api``,
  the application sees a head whose body is to come, so that it can refuse it before that is read.
  The leader also sends what a client does not read at once of a response (``response_buffer``), and
  waits for the client to close the connection; both for a limited time.
* When requests wait for a thread, senders take turns (``senders``). One sender leaves a thread to
  the others, and expensive requests have at most half of the threads.
* Large requests have a few of the threads; any more get 503.
* ``/healthz`` and ``/readyz`` have a thread each, so that no other request delays them.
* A request so malformed that the application never sees it gets the service's error envelope. The
  log says what was wrong, but not what was sent, as that may hold a secret.
* A process with more kept-alive connections than another closes some of them after a response
  (``connection_counts``).

Connections are plain HTTP/1.1, without gunicorn's TLS, HTTP/2 and access log.

gunicorn documents its ``Worker`` as a base class, but neither its parser nor its response. Their
names are those of ``GUNICORN_VERSION``, which requirements.in pins;
``tests/processes/test_library_internals.py`` compares them.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, Final

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.http import errors, get_parser, wsgi  # type: ignore[import-untyped]
from gunicorn.workers.base import Worker  # type: ignore[import-untyped]

from app.policy.request_limits import EXPENSIVE_WAITING
from app.processes.web_server import refusals
from app.processes.web_server.arriving_requests import ArrivingRequests
from app.processes.web_server.connection_counts import (
    ConnectionCount,
    connections_within_open_files,
)
from app.processes.web_server.lingering_close import MAX_CLOSING, LingeringClose
from app.processes.web_server.refusals import MAX_HEAD, Refusal
from app.processes.web_server.request_buffer import (
    BODY_TO_COME,
    BodyAwaited,
    ByteBudget,
    RequestBuffer,
    RequestLimits,
    RequestProgress,
    Storage,
)
from app.processes.web_server.response_buffer import (
    ResponseBuffer,
    SlowReaders,
    UnreadMemory,
)
from app.processes.web_server.senders import SendersTurns, sender_of

log = logging.getLogger(__name__)

GUNICORN_VERSION: Final = "27.0.1"

MAX_IN_MEMORY: Final = 32 * 1024 * 1024  # bytes of a process's large requests
MAX_IN_FILES: Final = 256 * 1024 * 1024
_LAST_ANSWERS: Final = 2.0  # last seconds of graceful_timeout, in which no request is collected
_LAST_REQUESTS: Final = 2.0  # seconds for which a stopping process waits for a request to begin
_TICK: Final = 1.0  # seconds between two checks of the deadlines
_PAUSE: Final = 0.05  # seconds
_OUT_OF_FILES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_CLIENT_IS_GONE: Final = (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN)

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class BufferedResponse(wsgi.Response):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's response, written to a ``ResponseBuffer`` and without a ``Server`` header."""

    def default_headers(self) -> list[str]:
        lines: list[str] = super().default_headers()
        return [line for line in lines if not line.startswith("Server:")]

    def close(self) -> None:
        super().close()
        self.sock.flush()


@dataclass(eq=False, slots=True)
class Connection:
    """A connection with its current request and response."""

    sock: socket.socket
    client: Any  # address of the client
    server: Any  # address of this socket
    request: RequestBuffer
    pieces: Iterator[bytes] = iter(())  # the request's bytes
    ahead: bytes = b""  # bytes that came after the request
    sender: str | None = None  # None: the request is a health check
    response: ResponseBuffer | None = None
    has_head_alone: bool = False  # the application sees the head, and may refuse the body
    is_watched: bool = False  # the poller has it
    is_at_work: bool = False  # its request has a thread, or waits for one
    is_kept: bool = False  # kept alive for the next request
    is_closed: bool = False


class EnvelopeWorker(Worker):  # type: ignore[misc]  # gunicorn has no types
    """The worker class of the service. A connection has a thread, or waits: for its first request
    (``_silent``), the rest of a request (``_collecting``), a thread (``_turns``), its client to
    read a response (``_reading``), its next request (``_idle``), or its end (``_lingering``).

    These are only changed while holding ``_lock``.
    """

    alive: bool
    max_body_bytes = 16 * 1024 * 1024  # gunicorn.conf.py sets these three
    max_upload_bytes = 0
    trusted_proxies = 0

    def init_process(self) -> None:
        self._lock = threading.RLock()
        self._leading = threading.Lock()  # the leader holds it
        self._ended = threading.Event()
        self._poller = selectors.DefaultSelector()
        self._silent: dict[Connection, float] = {}  # values are deadlines
        self._idle: dict[Connection, float] = {}  # values are deadlines
        self._collecting = ArrivingRequests()
        self._reading = SlowReaders(self._go_on, self._drop)
        self._lingering = LingeringClose()
        self._large: set[Connection] = set()  # their large requests have a thread, or wait for one
        self._health_threads = {
            check: ThreadPoolExecutor(max_workers=1) for check in (b"healthz", b"readyz")
        }
        self._turns = SendersTurns(self.cfg.threads)
        self._max_large = min(1 + EXPENSIVE_WAITING, max(1, self.cfg.threads - 1))
        self._connections = 0
        self._count = ConnectionCount(self.age)
        self._tick_at = 0.0
        self._stopping_since = float("inf")
        self._limits = RequestLimits(
            self.cfg.limit_request_line, MAX_HEAD, self.max_body_bytes, self.max_upload_bytes
        )
        folder = self.cfg.tmp_upload_dir
        self._storage = Storage(folder, ByteBudget(MAX_IN_MEMORY), ByteBudget(MAX_IN_FILES))
        self._unread = UnreadMemory(folder)
        self._max_connections = connections_within_open_files(
            int(self.cfg.worker_connections), MAX_CLOSING
        )
        # gunicorn reads eighteen settings for each request. As attributes they need no call of
        # ``Config.__getattr__``.
        settings = self.cfg.settings.items()
        self.cfg.__dict__.update({name: setting.get() for name, setting in settings})
        super().init_process()

    def run(self) -> None:
        """Serve requests until the process has to end."""
        self._poller.register(self.PIPE[0], selectors.EVENT_READ, self._awake)
        for listener in self.sockets:
            listener.setblocking(False)
            accept = partial(self._accept, listener)
            self._poller.register(listener, selectors.EVENT_READ, accept)
        for _ in range(self.cfg.threads + 1):
            threading.Thread(target=self._serve, daemon=True).start()
        while not self._ended.wait(_TICK):  # signals interrupt this thread
            pass
        for listener in self.sockets:
            listener.close()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop: SIGTERM."""
        super().handle_exit(sig, frame)
        self._wake_leader()

    # Threads

    def _serve(self) -> None:
        """Answer requests, and lead when there are none, until the process ends."""
        try:
            conn = None
            while conn := conn or self._lead():
                is_kept = self._answer(conn)
                with self._lock:
                    self._finish(conn, is_kept=is_kept)
                    conn = self._take()
        except Exception:
            log.exception("a thread of the web server failed")
        finally:
            self._ended.set()

    def _lead(self) -> Connection | None:
        """Once it is this thread's turn to lead, wait for a request to answer. Returns None when
        the process ends."""
        with self._leading:
            while not self._ended.is_set():
                with self._lock:
                    conn: Connection | None = self._turns.take()
                if conn is not None:
                    return conn
                for key, _ in self._poller.select(max(0.0, self._tick_at - time.monotonic())):
                    if isinstance(key.data, Connection):
                        self._read(key.data)
                    else:
                        with self._lock:
                            key.data()
                with self._lock:
                    self._look_at_clock()
        return None

    def _take(self) -> Connection | None:
        """Return the request that this thread answers next, if one waits for a thread."""
        conn: Connection | None = self._turns.take()
        if conn is not None and self._turns.has_next:
            self._wake_leader()  # it answers the other one
        return conn

    def _wake_leader(self) -> None:
        with contextlib.suppress(BlockingIOError):  # the pipe is full: the leader wakes up anyway
            os.write(self.PIPE[1], b".")

    def _awake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self.PIPE[0], 4096)

    def _answer(self, conn: Connection) -> bool:
        """Run the application and send its response. Returns True if the connection is kept."""
        request = None
        try:
            parser = get_parser(self.cfg, conn.pieces, conn.client)
            request = next(parser)
            # What the application has not read of the body is skipped here.
            if self._respond(conn, request) and parser.finish_body():
                conn.ahead = parser.unreader.take_buffered() + b"".join(conn.pieces)
                return True
        except errors.NoMoreData:
            pass  # the client has sent only a part
        except BodyAwaited:
            conn.request.framer.is_checked_ahead = False
        except Exception as error:
            if conn.response is not None:
                conn.response.close()
            self._report(conn, request, error)
        return False

    def _respond(self, conn: Connection, request: Any) -> bool:
        """Run the application and send its response. Returns True if that keeps the connection.

        Raises:
            Exception: the response has not begun.
        """
        conn.response = ResponseBuffer(conn.sock, self._unread)
        request._expected_100_continue = False  # it was sent, or is no longer needed
        response, environ = wsgi.create(
            request, conn.response, conn.client, conn.server, self.cfg, BufferedResponse
        )
        environ["wsgi.multithread"] = True
        environ["gunicorn.socket"] = conn.sock  # ``app.api.expensive`` looks whether it is closed
        if conn.has_head_alone:
            environ[BODY_TO_COME] = True
        is_last = not self.alive or not conn.request.is_complete
        if is_last or self._count.should_close_one(self._connections_in_use()):
            response.force_close()
        try:
            body = self.wsgi(environ, response.start_response)
            try:
                for piece in body:
                    response.write(piece)
                response.close()
            finally:
                if hasattr(body, "close"):
                    body.close()
        except OSError:
            raise
        except Exception:
            if not response.headers_sent:
                raise
            log.exception("the application failed in the middle of a response")
            conn.response.close()
            return False
        return not response.should_close()

    def _report(self, conn: Connection, request: Any, error: Exception) -> None:
        """Respond to a request that failed outside the application."""
        if isinstance(error, OSError):
            if error.errno not in _CLIENT_IS_GONE:
                log.error("a response failed", exc_info=error)
        elif not refusals.is_malformed_request(error):
            fields = refusals.send_refusal(conn.sock, refusals.FAILED)
            log.error("the web server failed to answer", exc_info=error, extra={"fields": fields})
        elif request is None:  # else it was answered, and only the next one is malformed
            fields = refusals.send_refusal(conn.sock, refusals.refusal_of(error, self.cfg))
            log.warning("malformed request: %s", type(error).__name__, extra={"fields": fields})

    # Connections

    def _accept(self, listener: Any) -> None:
        try:
            sock, client = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as error:
            if error.errno not in _OUT_OF_FILES:
                raise
            if not self._make_room():
                time.sleep(_PAUSE)  # the threads have all files, and will close some soon
            return
        if self._connections >= self._max_connections:
            self._make_room()
        sock.setblocking(False)
        self._connections += 1
        request = RequestBuffer(self._limits, self._storage)
        conn = Connection(sock, client, listener.getsockname(), request)
        self._silent[conn] = time.monotonic() + self.cfg.keepalive
        self._watch(conn)

    def _read(self, conn: Connection) -> None:
        """Read the part of a request that has arrived, without the lock: while reading, Python's
        interpreter may switch to a thread that needs it."""
        with self._lock:
            if conn.is_closed:
                return  # by an event that came together with this one
            if conn.is_at_work:
                self._unwatch(conn)  # its next request has to wait
                return
        try:
            data = conn.sock.recv(conn.request.read_size, socket.MSG_DONTWAIT)
        except BlockingIOError:
            pass
        except OSError:
            self._drop(conn)
        else:
            self._add(conn, data)

    def _add(self, conn: Connection, data: bytes) -> None:
        """Process the next bytes of a request; empty if the client sends no more."""
        framer = conn.request.framer
        if not data and not framer.has_head:
            self._drop(conn)
            return
        try:
            progress = conn.request.add(data) if data else RequestProgress.MALFORMED
            conn.has_head_alone = progress is RequestProgress.INCOMPLETE
            if conn.has_head_alone and not framer.is_checked_ahead:
                self._await_rest(conn)
                return
            peer = conn.client[0] if conn.client else ""  # a Unix socket has none
            conn.sender = sender_of(framer.head, peer, self.trusted_proxies)
            head = iter([framer.head + b"\r\n"])
            pieces = head if conn.has_head_alone else conn.request.pieces()
        except OSError:
            self._refuse(conn, refusals.NO_ROOM)
            return
        with self._lock:
            if progress in refusals.BY_PROGRESS:
                self._refuse(conn, refusals.BY_PROGRESS[progress])
            elif conn.request.is_large and not self._has_room_for_large(conn):
                self._refuse(conn, refusals.TOO_MANY_LARGE)
            else:
                self._hand_over(conn, pieces)

    def _hand_over(self, conn: Connection, pieces: Iterator[bytes]) -> None:
        """Let a thread answer a request, whose bytes are these."""
        self._stop_waiting(conn)
        conn.is_at_work = True
        conn.pieces = pieces
        if conn.request.is_large:
            self._large.add(conn)
        if check := conn.request.health_check:
            conn.sender = None
            self._health_threads[check].submit(self._answer_check, conn)
        else:
            self._turns.add(conn)

    def _answer_check(self, conn: Connection) -> None:
        is_kept = self._answer(conn)
        with self._lock:
            self._finish(conn, is_kept=is_kept)
            if self._turns.has_next:  # a request came after it
                self._wake_leader()

    def _has_room_for_large(self, conn: Connection) -> bool:
        """True if a thread may answer a large request now. No sender may take the last place."""
        senders = [large.sender for large in self._large]
        limit: int = self._max_large
        return len(senders) < limit and senders.count(conn.sender) < max(1, limit - 1)

    def _await_rest(self, conn: Connection) -> None:
        """Wait until more of a request can be read."""
        if conn not in self._collecting:
            with self._lock:
                self._stop_waiting(conn)
                self._collecting.add(conn, time.monotonic())
                conn.is_at_work = False
                self._watch(conn)
        framer = conn.request.framer
        if framer.expects_continue:
            framer.expects_continue = False
            with contextlib.suppress(OSError):
                conn.sock.send(_CONTINUE, socket.MSG_DONTWAIT)

    def _finish(self, conn: Connection, *, is_kept: bool) -> None:
        """Go on after a request once the client has read the response."""
        conn.is_kept = is_kept
        self._large.discard(conn)
        if conn.sender is not None:
            self._turns.remove(conn)
        if conn.has_head_alone and not conn.request.framer.is_checked_ahead:
            self._await_rest(conn)
            return
        conn.request.close()
        if conn.response is not None and conn.response.size:
            self._unwatch(conn)
            self._reading.add(conn, self._poller)
        else:
            self._go_on(conn)

    def _go_on(self, conn: Connection) -> None:
        """Wait for the next request of a connection, or close it."""
        if conn.response is not None:
            conn.response.close()
            conn.response = None
        if not conn.is_kept:
            self._close(conn)
            return
        conn.request = RequestBuffer(self._limits, self._storage)
        if ahead := conn.ahead:
            conn.ahead = b""
            self._add(conn, ahead)
        else:
            self._idle[conn] = time.monotonic() + self.cfg.keepalive
            conn.is_at_work = False
            self._watch(conn)

    def _watch(self, conn: Connection) -> None:
        if not conn.is_watched:
            conn.is_watched = True
            self._poller.register(conn.sock, selectors.EVENT_READ, conn)

    def _unwatch(self, conn: Connection) -> None:
        if conn.is_watched:
            conn.is_watched = False
            self._poller.unregister(conn.sock)

    def _stop_waiting(self, conn: Connection) -> None:
        """Stop waiting for a request of a connection."""
        self._silent.pop(conn, None)
        self._idle.pop(conn, None)
        self._collecting.remove(conn)

    def _drop(self, conn: Connection) -> None:
        """Close a connection whose client is gone or too slow."""
        self._close(conn, linger=False)

    def _close(self, conn: Connection, *, linger: bool = True) -> None:
        """Close a connection; with ``linger``, once its client has closed it, too."""
        with self._lock:
            self._stop_waiting(conn)
            self._unwatch(conn)
            conn.is_closed = True
            self._connections -= 1
            conn.request.close()
            if conn.response is not None:
                conn.response.close()
            if linger:
                self._lingering.begin(conn.sock, self._poller)
            else:
                util.close(conn.sock)

    def _refuse(self, conn: Connection, refusal: Refusal, *, linger: bool = True) -> None:
        """Refuse a request without a thread, and close its connection."""
        fields = refusals.send_refusal(conn.sock, refusal)
        log.info("request refused with %d", refusal.status, extra={"fields": fields})
        self._close(conn, linger=linger)

    def _make_room(self) -> bool:
        """Close the connection that has waited longest, of the kind with the most. Returns False if
        none waits."""
        kinds: tuple[Any, ...] = (self._collecting, self._reading, self._silent, self._idle)
        waiting = max(kinds, key=len)
        if not waiting:
            return False
        if waiting is self._reading:
            self._reading.drop_oldest(self._poller)
        elif waiting is self._collecting:
            self._refuse(self._collecting.oldest, refusals.NO_ROOM, linger=False)
        else:
            self._drop(next(iter(waiting)))
        return True

    def _connections_in_use(self) -> int:
        """Return the number of connections that have a thread or are idle between two requests."""
        waiting = len(self._collecting) + len(self._reading) + len(self._silent)
        return self._connections - waiting

    def _look_at_clock(self) -> None:
        """End what is past its limits at every tick, and this process once it has to stop."""
        now = time.monotonic()
        if self.alive:
            self._count.write(self._connections_in_use())
        if now >= self._tick_at:
            self.notify()
            if self.ppid != os.getppid():
                self.alive = False  # the parent has died
            self._end_expired(now)
            self._tick_at = now + (_TICK if self.alive else _PAUSE)
        if not self.alive:
            self._stop(now)

    def _end_expired(self, now: float) -> None:
        latest = self._stopping_since + _LAST_REQUESTS
        for waiting in (self._silent, self._idle):
            while waiting:
                conn, deadline = next(iter(waiting.items()))
                if now <= min(deadline, latest):
                    break
                self._drop(conn)
        latest = self._stopping_since + self.cfg.graceful_timeout - _LAST_ANSWERS
        refusal = refusals.STOPPING if now > latest else refusals.TOO_SLOW
        for conn in self._collecting.expired(now, latest):
            self._refuse(conn, refusal)
        self._reading.end_expired(self._poller)
        self._lingering.end_expired(self._poller)

    def _stop(self, now: float) -> None:
        """Stop accepting, and end the process once all connections have ended or time is up."""
        if self._stopping_since > now:
            self._stopping_since = self._tick_at = now
            for listener in self.sockets:
                self._poller.unregister(listener)
        if not self._connections or now > self._stopping_since + self.cfg.graceful_timeout:
            self._ended.set()
