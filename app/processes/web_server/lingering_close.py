"""Closing connections without losing the end of a response, and without blocking."""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from functools import partial
from typing import Final

CLOSE_TIMEOUT: Final = 2.0  # seconds for a client to close after its response
MAX_CLOSING: Final = 500  # connections; more are closed at once
_MAX_DRAINED: Final = 64 * 1024  # bytes


class LingeringClose:
    """Connections that this process has closed for writing, and reads until their clients close
    them, too. Closing a connection with unread bytes loses a response that is on its way (RFC 9112,
    section 9.6)."""

    def __init__(self) -> None:
        self._closing: dict[socket.socket, tuple[float, int]] = {}  # deadline, bytes drained

    def begin(self, sock: socket.socket, poller: selectors.BaseSelector) -> None:
        """Close a connection once its client has, or at once if there are too many."""
        if len(self._closing) >= MAX_CLOSING:
            sock.close()
            return
        try:
            sock.shutdown(socket.SHUT_WR)
            poller.register(sock, selectors.EVENT_READ, partial(self._drain, sock, poller))
        except (OSError, ValueError, KeyError):
            sock.close()
            return
        self._closing[sock] = (time.monotonic() + CLOSE_TIMEOUT, 0)

    def end_expired(self, poller: selectors.BaseSelector) -> None:
        """Close the connections whose clients are too slow."""
        now = time.monotonic()
        for sock, (deadline, _) in list(self._closing.items()):
            if now > deadline:
                self._finish(sock, poller)

    def _drain(self, sock: socket.socket, poller: selectors.BaseSelector) -> None:
        """Read the bytes that a client still sends."""
        deadline, drained = self._closing[sock]
        try:
            data = sock.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._closing[sock] = deadline, drained + len(data)
        if not data or drained > _MAX_DRAINED:
            self._finish(sock, poller)

    def _finish(self, sock: socket.socket, poller: selectors.BaseSelector) -> None:
        del self._closing[sock]
        with contextlib.suppress(OSError, KeyError, ValueError):
            poller.unregister(sock)
        with contextlib.suppress(OSError):
            sock.close()
