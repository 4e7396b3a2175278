"""The number of connections of each web process, which spreads them evenly.

The processes accept from one socket, and chance decides which of them is first. So the kept-alive
connections of a few busy clients could all stay on one process. The counts are in memory that the
processes share, as it is allocated before they are forked.
"""

from __future__ import annotations

import mmap
import resource
import struct
import threading
import time
from typing import Final

_ROW: Final = struct.Struct("dl")  # time of writing (monotonic), connections
_ROWS: Final = 256
_EXPIRES_AFTER: Final = 3.0  # seconds; a living process writes its row every second
_PAUSE: Final = 0.05  # seconds between two comparisons
_OTHER_FILES: Final = 150  # open files of a process: the database, logs, the application
_MIN_CONNECTIONS: Final = 64  # even if the limit of open files is lower
_TABLE: Final = mmap.mmap(-1, _ROWS * _ROW.size)


class ConnectionCount:
    """The row of one process. The process started 256 processes later has the same row; if the
    earlier one is still alive, the two merely do not see each other."""

    def __init__(self, number: int) -> None:
        self._row = number % _ROWS
        self._lock = threading.Lock()
        self._compared_at = 0.0

    def write(self, connections: int) -> None:
        """Publish the number of connections. To be repeated every second."""
        _ROW.pack_into(_TABLE, self._row * _ROW.size, time.monotonic(), connections)

    def should_close_one(self, connections: int) -> bool:
        """True if this process has at least two connections more than another one. Compared at most
        every 50 ms, so that a client has time to connect to the other one."""
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
    """Raise the limit of open files as far as needed and allowed. Returns the number of connections
    that the process can hold then, each with a file for its request.

    Args:
        wanted: the most connections.
        closing: connections that are being closed besides.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    others = closing + _OTHER_FILES
    needed = 2 * wanted + others
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(wanted, max(_MIN_CONNECTIONS, (soft - others) // 2))
