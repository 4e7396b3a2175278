"""gunicorn's worker with threads, held by nobody who is slow, or does nothing at all.

A thread reads a request, and sends its answer; there are a few for each process, and one more that
takes up all requests. Four things would stop them, and are bounded here: a client that connects
and says nothing, one that does not send the rest of its request, one that does not read its answer,
and one that does not close when it has been answered. A proxy that takes in whole requests, and
whole answers, keeps such clients away altogether.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import time
from functools import partial
from typing import Any, Final

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.workers.gthread import _DEFER, ThreadWorker  # type: ignore[import-untyped]

ARRIVES_WITHIN: Final = 20.0  # seconds for a whole request; 16 MB at 7 Mbit/s
READS_WITHIN: Final = 20  # seconds until the client takes more of its answer
ANSWERED_WITHIN: Final = 300.0  # seconds, from the request to the last byte of its answer
CLOSES_WITHIN: Final = 2.0  # seconds for a client to close after its answer
_MOST_CLOSING: Final = 500  # connections; any more are closed at once
_MOST_DRAINED: Final = 64 * 1024


class SlowClientsWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's worker, with bounds for the client."""

    def init_process(self) -> None:
        self._since: dict[Any, float] = {}  # connection -> when its request was taken up
        self._closing: dict[socket.socket, tuple[float, int]] = {}  # -> until when; bytes drained
        super().init_process()

    def handle(self, conn: Any) -> Any:
        """Answer one request, in a thread."""
        if not conn.initialized and not conn.wait_for_data(0):
            return _DEFER  # it has said nothing; gunicorn would wait here for five seconds
        conn.close = partial(self._close, conn.sock)
        self._since[conn] = time.monotonic()
        try:
            return super().handle(conn)
        finally:
            self._since.pop(conn, None)

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Run the application and send its answer."""
        patience = struct.pack("ll", READS_WITHIN, 0)
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
        try:
            return super().handle_request(req, conn)
        except BlockingIOError:
            return False  # the client did not read on

    def murder_pending(self) -> None:
        """End what takes too long. gunicorn calls this about once a second."""
        super().murder_pending()
        now = time.monotonic()
        for conn, since in list(self._since.items()):
            if now - since > ARRIVES_WITHIN:
                all_of_it = now - since > ANSWERED_WITHIN
                with contextlib.suppress(OSError):
                    conn.sock.shutdown(socket.SHUT_RDWR if all_of_it else socket.SHUT_RD)
        for sock, (until, _) in list(self._closing.items()):
            if now > until:
                self._closed(sock)

    def _close(self, sock: socket.socket, graceful: bool = False) -> None:
        """Close a connection, if ``graceful`` when the client has closed it too: else the end of
        an answer could be lost. gunicorn waits for that on the thread that takes up all requests.
        """
        if not graceful or len(self._closing) >= _MOST_CLOSING:
            util.close(sock)
            return
        try:
            sock.shutdown(socket.SHUT_WR)
            sock.setblocking(False)
            self.poller.register(sock, selectors.EVENT_READ, self._drain)
        except (OSError, ValueError, KeyError):
            util.close(sock)
            return
        self._closing[sock] = (time.monotonic() + CLOSES_WITHIN, 0)

    def _drain(self, sock: socket.socket) -> None:
        """Read what a client still sends on a connection that is being closed."""
        until, drained = self._closing[sock]
        try:
            data = sock.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._closing[sock] = until, drained + len(data)
        if not data or drained > _MOST_DRAINED:
            self._closed(sock)

    def _closed(self, sock: socket.socket) -> None:
        del self._closing[sock]
        with contextlib.suppress(OSError, KeyError, ValueError):
            self.poller.unregister(sock)
        util.close(sock)
