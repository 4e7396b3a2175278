"""Responses that clients have not read yet. The poller sends them a piece at a time, so that no
thread waits for a slow reader."""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import socket
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final

MAX_HELD: Final = 96 * 1024 * 1024  # bytes of one response; past that a thread waits for its client
MAX_UNREAD: Final = 192 * 1024 * 1024  # bytes of all responses that the poller sends
SEND_TIMEOUT: Final = 20.0  # seconds until the client reads more of its response
RESPONSE_TIMEOUT: Final = 300.0  # seconds until it has read all of it

_PIECE: Final = 1024 * 1024  # bytes to send at once
_current: Final = threading.local()  # the buffer of the response that a thread works on


class ResponseBuffer:
    """Replaces the socket that gunicorn writes a response to, and keeps what the socket does not
    accept at once. Made in the thread that works on the response.

    ``most`` bytes are kept; past that the thread waits for the client, which has ``longest``
    seconds in all.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._unsent: deque[memoryview] = deque()
        self._begun = self._progress = time.monotonic()
        self.longest = RESPONSE_TIMEOUT
        self.most = MAX_HELD
        self.size = 0  # bytes that it keeps
        self.is_expensive = False
        _current.buffer = weakref.ref(self)

    @property
    def time_left(self) -> float:
        """The seconds that the client has to read more."""
        deadline = min(self._progress + SEND_TIMEOUT, self._begun + self.longest)
        return deadline - time.monotonic()

    def sendall(self, data: bytes) -> None:
        """Send or keep data.

        Raises:
            OSError: the client is gone, or reads too slowly a response that is too large to keep.
        """
        if not self._unsent:
            self._progress = time.monotonic()
        self._unsent.append(memoryview(data))
        self.size += len(data)
        self._send_all()
        while self.size > self.most:
            with selectors.DefaultSelector() as poller:
                poller.register(self._sock, selectors.EVENT_WRITE)
                if self.time_left < 0 or not poller.select(self.time_left):
                    raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
            self._send_all()

    def send_piece(self) -> None:
        """Send a piece, or as much of it as the socket accepts now.

        Raises:
            BlockingIOError: it accepts nothing now.
            OSError: the client is gone.
        """
        data = self._unsent[0]
        sent = self._sock.send(data[:_PIECE], socket.MSG_DONTWAIT)
        self._progress = time.monotonic()
        self.size -= sent
        if sent == len(data):
            self._unsent.popleft()
        else:
            self._unsent[0] = data[sent:]

    def _send_all(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._unsent:
                self.send_piece()


def pace_response(most: int, longest: float) -> None:
    """Have the response of this thread produced as fast as its client reads it, a piece at a time.
    It may be larger than the memory.

    Args:
        most: the bytes of it that are kept; past that the thread waits for the client.
        longest: the seconds that the client has to read all of it.
    """
    if (buffer := _current_buffer()) is not None:
        buffer.most, buffer.longest = most, longest


def note_expensive() -> None:
    """Tell the web server that the request of this thread is expensive (``senders``)."""
    if (buffer := _current_buffer()) is not None:
        buffer.is_expensive = True


def _current_buffer() -> ResponseBuffer | None:
    """None: this is no thread of the web server."""
    reference: weakref.ref[ResponseBuffer] | None = getattr(_current, "buffer", None)
    return None if reference is None else reference()


class SlowReaders:
    """The connections of a process whose clients are still reading their responses. The poller
    sends the rest, and then passes a connection to ``finish``, or to ``drop`` when its client is
    gone or too slow."""

    def __init__(self, finish: Callable[[Any, Any], None], drop: Callable[[Any], None]) -> None:
        self._finish, self._drop = finish, drop
        self._reading: dict[Any, None] = {}  # in the order in which they came

    def __len__(self) -> int:
        return len(self._reading)

    def add(self, conn: Any, outcome: Any, poller: selectors.BaseSelector) -> None:
        """Add a connection, whose ``response`` is a ``ResponseBuffer``.

        Args:
            outcome: the second argument of ``finish``.
        """
        try:
            poller.register(
                conn.sock, selectors.EVENT_WRITE, lambda _: self._send(conn, outcome, poller)
            )
        except ValueError:  # it was closed, as the application failed in the middle
            self._drop(conn)
            return
        self._reading[conn] = None
        while sum(reader.response.size for reader in self._reading) > MAX_UNREAD:
            self.drop_oldest(poller)

    def drop_oldest(self, poller: selectors.BaseSelector) -> None:
        """Close the connection that came first, of the sender with the most unread bytes."""
        unread = Counter[str]()
        for conn in self._reading:
            unread[conn.sender] += conn.response.size
        ((most, _),) = unread.most_common(1)
        self._remove(next(conn for conn in self._reading if conn.sender == most), poller)

    def end_expired(self, poller: selectors.BaseSelector) -> None:
        """Close the connections whose clients take too long."""
        for conn in [reader for reader in self._reading if reader.response.time_left < 0]:
            self._remove(conn, poller)

    def _send(self, conn: Any, outcome: Any, poller: selectors.BaseSelector) -> None:
        if conn not in self._reading:
            return  # an event that came with the one for which it was dropped
        try:
            with contextlib.suppress(BlockingIOError):
                conn.response.send_piece()
        except OSError:
            self._remove(conn, poller)
            return
        if not conn.response.size:
            del self._reading[conn]
            poller.unregister(conn.sock)
            self._finish(conn, outcome)

    def _remove(self, conn: Any, poller: selectors.BaseSelector) -> None:
        del self._reading[conn]
        poller.unregister(conn.sock)
        self._drop(conn)
