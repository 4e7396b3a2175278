"""The number of connections of each web process, by which one of them gives up a connection.

The processes accept from one socket, and it is chance which of them is first; kept alive, the
connections of a few busy clients can all stay on one of them. The counts are in memory that the
processes share, as it is made before they are forked.
"""

from __future__ import annotations

import mmap
import resource
import struct
import threading
import time
from typing import Final

_ROW: Final = struct.Struct("dl")  # when it was written, on the monotonic clock; connections
_ROWS: Final = 256
_EXPIRES_AFTER: Final = 3.0  # seconds; a process writes its row every second, or it has ended
_PAUSE: Final = 0.05  # seconds between two comparisons
_OTHER_FILES: Final = 150  # that a process has open: the database, logs, the application
_FEWEST: Final = 64  # connections, however few files there may be
_TABLE: Final = mmap.mmap(-1, _ROWS * _ROW.size)


class ConnectionCount:
    """The row of one process. A process that starts 256 processes later has the same row: by then
    the earlier one has ended, or the two merely do not see each other."""

    def __init__(self, number: int) -> None:
        self._row = number % _ROWS
        self._lock = threading.Lock()
        self._compared_at = 0.0

    def write(self, connections: int) -> None:
        """Publish the number of connections; to be repeated every second."""
        _ROW.pack_into(_TABLE, self._row * _ROW.size, time.monotonic(), connections)

    def should_close_one(self, connections: int) -> bool:
        """True if this process holds at least two connections more than another one. Compared at
        most once in 50 ms, in which the client can connect to the other one."""
        now = time.monotonic()
        with self._lock:
            if connections < 2 or now - self._compared_at < _PAUSE:
                return False
            self._compared_at = now
            return connections >= self._least(now, connections) + 2

    def _least(self, now: float, own: int) -> int:
        rows = enumerate(_ROW.iter_unpack(_TABLE[:]))
        others = (
            connections
            for row, (written_at, connections) in rows
            if row != self._row and now - written_at < _EXPIRES_AFTER
        )
        return min(others, default=own)


def connections_within_open_files(wanted: int, closing: int) -> int:
    """The number of connections that a process can hold, each with a file for its request, besides
    those that it is closing. Raises its limit of open files as far as needed and allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    others = closing + _OTHER_FILES
    needed = 2 * wanted + others
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(wanted, max(_FEWEST, (soft - others) // 2))
