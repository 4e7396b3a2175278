"""One request as it arrives.

``RequestFramer`` finds the end of a request by the framing of RFC 9112, section 6. It validates
nothing else: gunicorn's parser reads the same bytes afterwards and decides what they mean,
including where the request ends. If the two differ, the parser refuses a request that it gets too
early, or the request is not complete in time; neither does harm.

``RequestBuffer`` keeps the bytes: in memory and, when large requests use too much of it, in an
unnamed file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import IO, Final, NamedTuple

from app.policy.request_limits import EXPENSIVE_BODY_BYTES

SMALL: Final = 64 * 1024  # bytes of a request for which there is always room
_MAX_FRAMING: Final = 1024 * 1024  # bytes of sizes and line ends in a chunked body
_MIN_READ: Final = 64 * 1024  # bytes to read at a time
_MAX_READ: Final = 256 * 1024
_FILE_READ: Final = 1024 * 1024
_PIECE: Final = 8192  # bytes; for each chunk, the parser copies the rest of the piece

_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,18})[ \t]*\r\n")
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n")
_HEALTH_CHECK: Final = re.compile(rb"(?:GET|HEAD) /(healthz|readyz)[ ?]")
_UPLOAD: Final = re.compile(rb"(?:\r\n)?post (?:/v1/imports|/imports/new)/?[ ?]")
_CHECKED_AHEAD: Final = re.compile(rb"(?:\r\n)?[a-z]{1,20} /(?:v1|ogc|api)[/?]")
_CONTINUE: Final = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n")
# A chunk's size comes after the line end of the head, or of the chunk before.
_CHUNK: Final = re.compile(rb"\r\n([0-9A-Fa-f]+)(?:[ \t]*;[^\r\n]*)?\r\n")
_PART_OF_CHUNK: Final = re.compile(rb"\r?|\r\n[0-9A-Fa-f]*|\r\n[0-9A-Fa-f]+[ \t]*(?:;[^\r\n]*)?\r?")


# In the WSGI environment of a request whose body has not arrived.
BODY_TO_COME: Final = "canopy.body_to_come"


class BodyAwaited(BaseException):
    """The application has nothing against a request whose body is to come. It is no error, so that
    no framework makes a response of it."""


class RequestProgress(Enum):
    """The state of a request. More bytes are needed only while it is INCOMPLETE."""

    INCOMPLETE = auto()
    COMPLETE = auto()
    MALFORMED = auto()  # its end cannot be found; the parser or the application says why
    BODY_TOO_LARGE = auto()  # the application refuses it
    HEAD_TOO_LARGE = auto()
    CHUNKS_TOO_SMALL = auto()


class RequestLimits(NamedTuple):
    """The most bytes of the parts of a request."""

    line: int  # the first one
    head: int  # also for trailers
    body: int
    upload: int = 0  # for the body of a request with a file


class ByteBudget:
    """The bytes that all requests, or all responses, of a process may take together."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Take ``size`` bytes. Returns False if there is no room."""
        with self._lock:
            is_enough = size <= self._left
            self._left -= size if is_enough else 0
        return is_enough

    def give_back(self, size: int) -> None:
        if size:
            with self._lock:
                self._left += size


class Storage(NamedTuple):
    """Where a process keeps its requests."""

    folder: str | None  # for files; None: the system's temporary folder
    memory: ByteBudget  # for bytes of a request past ``SMALL``
    files: ByteBudget


class RequestFramer:
    """Finds the end of one request, keeping at most its head, the line of a chunk, or trailers."""

    def __init__(self, limits: RequestLimits) -> None:
        self._limits = limits
        self._buffer = bytearray()  # begins a head, a line or trailers without their end
        self._searched = 0  # bytes of the buffer in which there is no end
        self._left = 0  # bytes still to come of the body or chunk
        self._body = 0  # bytes of a chunked body, without its framing
        self._framing = 0
        self._step: Callable[[], RequestProgress] = self._head
        self.has_head = False
        self.is_checked_ahead = False  # the application has to see the head before the body comes
        self.is_upload = False
        self.head = b""  # with the end of its last line
        self.expects_continue = False  # the client waits for 100 before it sends the body

    @property
    def left(self) -> int:
        """The bytes that are known to come."""
        return self._left

    def feed(self, data: bytes) -> RequestProgress:
        """Process the next bytes of the connection, while the request is incomplete."""
        self._buffer += data
        return self._step()

    @property
    def _max_body(self) -> int:
        return max(self._limits.body, self._limits.upload if self.is_upload else 0)

    def _head(self) -> RequestProgress:
        buffer = self._buffer
        end = buffer.find(_END, self._searched)
        if end < 0 and len(buffer) <= self._limits.head:
            return self._unfinished_head()
        if not 0 <= end <= self._limits.head:
            return RequestProgress.HEAD_TOO_LARGE
        self.has_head = True
        self.head = bytes(buffer[: end + 2])
        head = self.head.lower()
        self.is_upload = _UPLOAD.match(head) is not None
        self.is_checked_ahead = _CHECKED_AHEAD.match(head) is not None
        return self._body_of(head, end)

    def _unfinished_head(self) -> RequestProgress:
        buffer, line = self._buffer, self._limits.line
        self._searched = max(0, len(buffer) - len(_END) + 1)
        # An empty line may come before the first one. A limit of 0 is none.
        if line and len(buffer) > line + 4 and buffer.find(b"\r\n", 2, line + 4) < 0:
            return RequestProgress.MALFORMED
        if buffer.count(b"\n") != buffer.count(b"\r\n"):  # such a head never ends
            return RequestProgress.MALFORMED
        return RequestProgress.INCOMPLETE

    def _body_of(self, head: bytes, end: int) -> RequestProgress:
        """Begin the body that a head announces.

        Args:
            head: in lower case, with the end of its last line.
            end: position of that end in the buffer.
        """
        if b"\r\nexpect:" in head:
            if not _CONTINUE.search(head):
                return RequestProgress.MALFORMED
            self.expects_continue = head[: head.find(b"\r\n", 2)].endswith(b" http/1.1")
        lengths = head.count(b"\r\ncontent-length:")
        codings = head.count(b"\r\ntransfer-encoding:")
        if not lengths + codings:
            return RequestProgress.COMPLETE
        if lengths + codings == 1:
            if length := _LENGTH.search(head):
                return self._body_of_length(int(length[1]), end + len(_END))
            if _CHUNKED.search(head):
                del self._buffer[: end + 2]
                self._step = self._chunks
                return self._chunks()
        return RequestProgress.MALFORMED

    def _body_of_length(self, length: int, begin: int) -> RequestProgress:
        if length > self._max_body:
            return RequestProgress.BODY_TOO_LARGE
        del self._buffer[:begin]
        self._left = length
        self._step = self._rest
        return self._rest()

    def _rest(self) -> RequestProgress:
        self._left -= len(self._buffer)
        self._buffer.clear()
        return RequestProgress.INCOMPLETE if self._left > 0 else RequestProgress.COMPLETE

    def _chunks(self) -> RequestProgress:
        at = self._skip_data(0)
        while not self._left and (chunk := _CHUNK.match(self._buffer, at)):
            self._framing += chunk.end() - at
            self._left = int(chunk[1], 16)
            if not self._left:
                del self._buffer[: chunk.end() - 2]
                self._step = self._trailers
                return self._trailers()
            at = self._skip_data(chunk.end())
        del self._buffer[:at]
        return self._unfinished_chunks()

    def _skip_data(self, at: int) -> int:
        """Skip data of the chunk. Returns where it or the buffer ends."""
        skipped = min(self._left, len(self._buffer) - at)
        self._left -= skipped
        self._body += skipped
        return at + skipped

    def _unfinished_chunks(self) -> RequestProgress:
        if self._body > self._max_body:
            return RequestProgress.BODY_TOO_LARGE
        if self._framing > _MAX_FRAMING:
            return RequestProgress.CHUNKS_TOO_SMALL
        buffer = self._buffer
        is_line = len(buffer) <= self._limits.line + 4 and _PART_OF_CHUNK.fullmatch(buffer)
        return RequestProgress.INCOMPLETE if is_line else RequestProgress.MALFORMED

    def _trailers(self) -> RequestProgress:
        end = self._buffer.find(_END)
        if end < 0 and len(self._buffer) <= self._limits.head:
            return RequestProgress.INCOMPLETE
        return (
            RequestProgress.COMPLETE if 0 <= end <= self._limits.head else RequestProgress.MALFORMED
        )


class RequestBuffer:
    """The bytes of a request that have arrived. Close it in the end."""

    def __init__(self, limits: RequestLimits, storage: Storage) -> None:
        self.framer = RequestFramer(limits)
        self.is_complete = False
        self._size = 0  # bytes
        self._storage = storage
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self._taken = 0  # bytes from the budget for memory, or for files if there is a file

    @property
    def is_large(self) -> bool:
        return self._size > EXPENSIVE_BODY_BYTES

    @property
    def health_check(self) -> bytes | None:
        """``healthz`` or ``readyz`` for a request for one of these, else None."""
        check = _HEALTH_CHECK.match(self._memory) if self._size <= _PIECE else None
        return check and check[1]

    @property
    def read_size(self) -> int:
        """The number of bytes to read at a time."""
        return min(max(self.framer.left, _MIN_READ), _MAX_READ)

    def add(self, data: bytes) -> RequestProgress:
        """Add the next bytes of the connection.

        Raises:
            OSError: there is no room for them.
        """
        if self._file is None and self._fits_in_memory(len(data)):
            self._memory += data
        else:
            self._write(data)
        self._size += len(data)
        progress = self.framer.feed(data)
        self.is_complete = progress is RequestProgress.COMPLETE
        return progress

    def pieces(self) -> Iterator[bytes]:
        """Yield all bytes in small pieces. Nothing is added afterwards.

        Raises:
            OSError: it could not be written.
        """
        if self._file is None:
            return _split_data(self._memory)
        self._file.seek(0)
        return self._read_file(self._file)

    def close(self) -> None:
        """Discard the bytes."""
        self._budget.give_back(self._taken)
        self._taken = 0
        self._memory = bytearray()
        if self._file is not None:
            with contextlib.suppress(OSError):  # buffered bytes do not fit on the disk
                self._file.close()

    @property
    def _budget(self) -> ByteBudget:
        return self._storage.memory if self._file is None else self._storage.files

    def _fits_in_memory(self, size: int) -> bool:
        if len(self._memory) + size <= SMALL:
            return True
        if not self._storage.memory.take(size):
            return False
        self._taken += size
        return True

    def _write(self, data: bytes) -> None:
        if self._file is None:
            self._storage.memory.give_back(self._taken)
            self._taken = 0
            data = bytes(self._memory) + data
            self._file = tempfile.TemporaryFile(dir=self._storage.folder)  # noqa: SIM115 - close() does
            self._memory = bytearray()
        if not self._storage.files.take(len(data)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._taken += len(data)
        self._file.write(data)

    def _read_file(self, file: IO[bytes]) -> Iterator[bytes]:
        while block := file.read(_FILE_READ):
            yield from _split_data(block)


def _split_data(data: bytes | bytearray) -> Iterator[bytes]:
    for begin in range(0, len(data), _PIECE):
        yield bytes(data[begin : begin + _PIECE])
