"""Responses that clients have not read yet. The leader of the threads sends them a piece at a time,
so that no thread waits for a slow reader."""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import socket
import tempfile
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from typing import IO, Any, Final

from app.processes.web_server.request_buffer import SMALL, ByteBudget

MAX_IN_MEMORY: Final = 32 * 1024 * 1024  # bytes of the large responses of a process; then files
MAX_HELD: Final = 96 * 1024 * 1024  # bytes of one response; past that a thread waits for its client
MAX_UNREAD: Final = 192 * 1024 * 1024  # bytes of all responses that the leader sends
SEND_TIMEOUT: Final = 20.0  # seconds until the client reads more of its response
RESPONSE_TIMEOUT: Final = 300.0  # seconds until it has read all of it

_PIECE: Final = 1024 * 1024  # bytes to send at once
_JOINED: Final = 64 * 1024  # bytes of a body that is sent at once with its head
_current: Final = threading.local()  # the buffer of the response that a thread works on


class UnreadMemory:
    """Where a process keeps what its clients have not read: in memory, then in unnamed files.

    Args:
        folder: of the files. Without one, the system's folder for such files.
    """

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
        self.budget = ByteBudget(MAX_IN_MEMORY)  # of what is past ``SMALL`` bytes of a response


class ResponseBuffer:
    """Replaces the socket that gunicorn writes a response to, and keeps what the socket does not
    accept at once: in memory or, when large responses use too much of that, in a file. Made in the
    thread that works on the response.

    ``most`` bytes are kept; past that the thread waits for the client, which has ``longest``
    seconds in all.
    """

    def __init__(self, sock: socket.socket, kept: UnreadMemory) -> None:
        self._sock = sock
        self._kept = kept
        self._taken = 0  # bytes of the budget
        self._head: bytes | None = None
        self._unsent: deque[memoryview] = deque()
        self._file: IO[bytes] | None = None  # has what comes after that, from ``_sent`` on
        self._sent = 0
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
        """Send or keep data. The first is the head: it is sent with the next, or by ``flush``.

        Raises:
            OSError: the client is gone, or reads too slowly a response that is too large to keep;
                or a file for it could not be written.
        """
        if self._head is None:
            self._head = data
            return
        if self._head:
            head, self._head = self._head, b""
            if len(data) <= _JOINED:
                data = head + data
            else:
                self._keep(head)
        self._keep(data)
        self._send_all()
        while self.size > self.most:
            with selectors.DefaultSelector() as poller:
                poller.register(self._sock, selectors.EVENT_WRITE)
                if self.time_left < 0 or not poller.select(self.time_left):
                    raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
            self._send_all()

    def flush(self) -> None:
        """Send or keep the head if it is all of the response; raises as ``sendall``."""
        if self._head:
            self.sendall(b"")

    def send_piece(self) -> None:
        """Send a piece, or as much of it as the socket accepts now.

        Raises:
            BlockingIOError: it accepts nothing now.
            OSError: the client is gone, or the file could not be read.
        """
        if not self._unsent and self._file is not None:
            self._file.seek(self._sent)
            self._unsent.append(memoryview(self._file.read(_PIECE)))
            self._sent += len(self._unsent[0])
        data = self._unsent[0]
        sent = self._sock.send(data[:_PIECE], socket.MSG_DONTWAIT)
        self._progress = time.monotonic()
        self.size -= sent
        if sent == len(data):
            self._unsent.popleft()
        else:
            self._unsent[0] = data[sent:]

    def close(self) -> None:
        """Forget what was not sent."""
        self.size = 0
        self._head = b""
        self._unsent.clear()
        self._give_back()
        if self._file is not None:
            with contextlib.suppress(OSError):  # what was not written yet does not fit
                self._file.close()

    def _send_all(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self.size:
                self.send_piece()
        if self.size > SMALL and self._file is None and not self._fits_in_memory():
            self._move_to_file()

    def _keep(self, data: bytes) -> None:
        if not self.size:
            self._progress = time.monotonic()
        self.size += len(data)
        if self._file is None:
            self._unsent.append(memoryview(data))
        else:
            self._file.seek(0, os.SEEK_END)
            self._file.write(data)

    def _fits_in_memory(self) -> bool:
        more = max(0, self.size - self._taken)
        is_enough = self._kept.budget.take(more)
        self._taken += more if is_enough else 0
        return is_enough

    def _move_to_file(self) -> None:
        self._file = tempfile.TemporaryFile(dir=self._kept.folder)  # noqa: SIM115 - close() does
        self._file.writelines(self._unsent)
        self._unsent.clear()
        self._give_back()

    def _give_back(self) -> None:
        self._kept.budget.give_back(self._taken)
        self._taken = 0


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
    """The connections of a process whose clients are still reading their responses. Sends the rest,
    and then passes a connection to ``finish``, or to ``drop`` when its client is gone or too
    slow."""

    def __init__(self, finish: Callable[[Any], None], drop: Callable[[Any], None]) -> None:
        self._finish, self._drop = finish, drop
        self._reading: dict[Any, None] = {}  # in the order in which they came

    def __len__(self) -> int:
        return len(self._reading)

    def add(self, conn: Any, poller: selectors.BaseSelector) -> None:
        """Add a connection, whose ``response`` is a ``ResponseBuffer``."""
        poller.register(conn.sock, selectors.EVENT_WRITE, partial(self._send, conn, poller))
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

    def _send(self, conn: Any, poller: selectors.BaseSelector) -> None:
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
            self._finish(conn)

    def _remove(self, conn: Any, poller: selectors.BaseSelector) -> None:
        del self._reading[conn]
        poller.unregister(conn.sock)
        self._drop(conn)
