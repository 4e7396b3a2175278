"""Responses that clients have not read yet. The leader sends them piece by piece, so that no thread
waits for a slow reader."""

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

MAX_IN_MEMORY: Final = 32 * 1024 * 1024  # bytes of a process's large responses; then files
MAX_HELD: Final = 96 * 1024 * 1024  # bytes of one response; beyond, its thread waits for the client
MAX_UNREAD: Final = 192 * 1024 * 1024  # bytes of all responses that the leader sends
SEND_TIMEOUT: Final = 20.0  # seconds for the client to read more of its response
RESPONSE_TIMEOUT: Final = 300.0  # seconds for the client to read all of it

_PIECE: Final = 1024 * 1024  # bytes to send at a time
_JOINED: Final = 64 * 1024  # bytes; a smaller body is sent together with its head
_current: Final = threading.local()  # has the buffer of the thread's response


class UnreadMemory:
    """Where a process keeps what its clients have not read: in memory, then in unnamed files.

    Args:
        folder: for the files. None: the system's temporary folder.
    """

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
        self.budget = ByteBudget(MAX_IN_MEMORY)  # for bytes of a response past ``SMALL``


class ResponseBuffer:
    """Replaces the socket that gunicorn writes a response to. It keeps what the socket does not
    accept at once, in memory or, when large responses use too much of it, in a file. To be made in
    the thread that answers the request.
    """

    def __init__(self, sock: socket.socket, memory: UnreadMemory) -> None:
        self._sock = sock
        self._memory = memory
        self._taken = 0  # bytes from the budget
        self._head: bytes | None = None
        self._unsent: deque[memoryview] = deque()
        self._file: IO[bytes] | None = None  # has what comes after ``_unsent``, from ``_sent`` on
        self._sent = 0
        self._begun_at = self._progress_at = time.monotonic()
        self.max_seconds = RESPONSE_TIMEOUT  # for the client to read all of it
        self.max_size = MAX_HELD  # bytes; beyond, the thread waits for the client
        self.size = 0  # bytes that are not sent
        self.is_expensive = False
        _current.buffer = weakref.ref(self)

    @property
    def time_left(self) -> float:
        """The seconds that the client has to read more."""
        deadline = min(self._progress_at + SEND_TIMEOUT, self._begun_at + self.max_seconds)
        return deadline - time.monotonic()

    def sendall(self, data: bytes) -> None:
        """Send or keep data. The first data is the head: it is sent with the next, or by ``flush``.

        Raises:
            OSError: the client is gone, or too slow for a response that is too large to keep; or a
                file could not be written.
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
        while self.size > self.max_size:
            with selectors.DefaultSelector() as poller:
                poller.register(self._sock, selectors.EVENT_WRITE)
                if self.time_left < 0 or not poller.select(self.time_left):
                    raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
            self._send_all()

    def flush(self) -> None:
        """Send or keep the head if the response is nothing else. Raises as ``sendall``."""
        if self._head:
            self.sendall(b"")

    def send_piece(self) -> None:
        """Send a piece, or as much of it as the socket accepts now.

        Raises:
            BlockingIOError: the socket accepts nothing now.
            OSError: the client is gone, or the file could not be read.
        """
        if not self._unsent and self._file is not None:
            self._file.seek(self._sent)
            self._unsent.append(memoryview(self._file.read(_PIECE)))
            self._sent += len(self._unsent[0])
        data = self._unsent[0]
        sent = self._sock.send(data[:_PIECE], socket.MSG_DONTWAIT)
        self._progress_at = time.monotonic()
        self.size -= sent
        if sent == len(data):
            self._unsent.popleft()
        else:
            self._unsent[0] = data[sent:]

    def close(self) -> None:
        """Discard what was not sent."""
        self.size = 0
        self._head = b""
        self._unsent.clear()
        self._give_back()
        if self._file is not None:
            with contextlib.suppress(OSError):  # buffered bytes do not fit on the disk
                self._file.close()

    def _send_all(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self.size:
                self.send_piece()
        if self.size > SMALL and self._file is None and not self._fits_in_memory():
            self._move_to_file()

    def _keep(self, data: bytes) -> None:
        if not self.size:
            self._progress_at = time.monotonic()
        self.size += len(data)
        if self._file is None:
            self._unsent.append(memoryview(data))
        else:
            self._file.seek(0, os.SEEK_END)
            self._file.write(data)

    def _fits_in_memory(self) -> bool:
        more = max(0, self.size - self._taken)
        is_enough = self._memory.budget.take(more)
        self._taken += more if is_enough else 0
        return is_enough

    def _move_to_file(self) -> None:
        self._file = tempfile.TemporaryFile(dir=self._memory.folder)  # noqa: SIM115 - close() does
        self._file.writelines(self._unsent)
        self._unsent.clear()
        self._give_back()

    def _give_back(self) -> None:
        self._memory.budget.give_back(self._taken)
        self._taken = 0


def pace_response(max_size: int, max_seconds: float) -> None:
    """Produce the response of this thread no faster than its client reads it, so that it may be
    larger than the memory.

    Args:
        max_size: bytes to keep; beyond, the thread waits for the client.
        max_seconds: time for the client to read all of it.
    """
    if (buffer := _current_buffer()) is not None:
        buffer.max_size, buffer.max_seconds = max_size, max_seconds


def note_expensive() -> None:
    """Tell the web server that the request of this thread is expensive (``senders``)."""
    if (buffer := _current_buffer()) is not None:
        buffer.is_expensive = True


def _current_buffer() -> ResponseBuffer | None:
    """Return the buffer of this thread's response; None outside the web server's threads."""
    reference: weakref.ref[ResponseBuffer] | None = getattr(_current, "buffer", None)
    return None if reference is None else reference()


class SlowReaders:
    """The connections whose clients are still reading their responses. Sends the rest of each, then
    calls ``finish`` with the connection, or ``drop`` if the client is gone or too slow."""

    def __init__(self, finish: Callable[[Any], None], drop: Callable[[Any], None]) -> None:
        self._finish, self._drop = finish, drop
        self._reading: dict[Any, None] = {}  # in order of arrival

    def __len__(self) -> int:
        return len(self._reading)

    def add(self, conn: Any, poller: selectors.BaseSelector) -> None:
        """Add a connection, whose ``response`` is a ``ResponseBuffer``."""
        poller.register(conn.sock, selectors.EVENT_WRITE, partial(self._send, conn, poller))
        self._reading[conn] = None
        while sum(other.response.size for other in self._reading) > MAX_UNREAD:
            self.drop_oldest(poller)

    def drop_oldest(self, poller: selectors.BaseSelector) -> None:
        """Close the oldest connection of the sender with the most unread bytes."""
        unread = Counter[str]()
        for conn in self._reading:
            unread[conn.sender] += conn.response.size
        ((sender, _),) = unread.most_common(1)
        self._remove(next(conn for conn in self._reading if conn.sender == sender), poller)

    def end_expired(self, poller: selectors.BaseSelector) -> None:
        """Close the connections whose clients are too slow."""
        for conn in [conn for conn in self._reading if conn.response.time_left < 0]:
            self._remove(conn, poller)

    def _send(self, conn: Any, poller: selectors.BaseSelector) -> None:
        if conn not in self._reading:
            return  # dropped by an event that came together with this one
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
