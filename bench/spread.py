"""Which process of a server holds which connection, and the same number of them on each.

The processes of a web server accept from one listening socket, and it is chance which of them is
first. Two measurements can be compared only if the connections were spread alike. What the kernel
knows of its sockets tells (Linux): nothing is asked of the server.
"""

from __future__ import annotations

import os
import socket
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from bench.wire import build, connect, fetch

_PROBE: Final = build("GET", "/healthz", {})
_ATTEMPTS: Final = 40  # to open connections until they are spread evenly
_SETTLE_SECONDS: Final = 0.02  # seconds in which idle processes go back to waiting


def open_spread(port: int, number: int, processes: Sequence[int] = ()) -> list[socket.socket]:
    """Open kept-alive connections, the same number on each of some of the server's processes.

    Args:
        processes: empty: the connections stay where they happen to be accepted.

    Raises:
        SystemExit: they could not be spread evenly.
    """
    if not processes:
        return [connect(port) for _ in range(number)]
    share = -(-number // len(processes))
    kept: dict[int, list[socket.socket]] = {process: [] for process in processes}
    for _ in range(_ATTEMPTS):
        opened = open_accepted(port, number)
        for connection, process in zip(opened, owners(opened, processes), strict=True):
            missing = number - sum(map(len, kept.values()))
            if process is not None and missing and len(kept[process]) < share:
                kept[process].append(connection)
            else:
                connection.close()
        if sum(map(len, kept.values())) == number:
            return [connection for each in kept.values() for connection in each]
        time.sleep(_SETTLE_SECONDS)
    raise SystemExit(f"{number} connections could not be spread over {len(processes)} processes.")


def open_accepted(port: int, number: int, pause: float = 0.0) -> list[socket.socket]:
    """Open connections, each of which has been accepted and answered one request.

    Args:
        pause: seconds between one and the next.
    """
    opened = []
    for _ in range(number):
        opened.append(connect(port))
        time.sleep(pause)
    return [_accepted(each) for each in opened]


def _accepted(connection: socket.socket) -> socket.socket:
    """The connection once it was answered, or another one where the server closes it then."""
    while b"\r\nconnection: close" in fetch(connection, _PROBE)[0].lower():
        port = connection.getpeername()[1]
        connection.close()
        connection = connect(port)
    return connection


def counts(opened: Sequence[socket.socket], processes: Sequence[int]) -> list[int]:
    """How many of these connections each process holds, the most first."""
    found = Counter(owners(opened, processes))
    return sorted((found[process] for process in processes), reverse=True)


def owners(opened: Sequence[socket.socket], processes: Sequence[int]) -> list[int | None]:
    """The process that holds the other end of each connection; None where none of these does."""
    inodes = _inodes()
    holders = {inode: process for process in processes for inode in _sockets_of(process)}
    pairs = [(each.getpeername()[1], each.getsockname()[1]) for each in opened]
    return [holders.get(inodes.get(pair, "")) for pair in pairs]


def _inodes() -> dict[tuple[int, int], str]:
    """The inode of each end of a connection, by its own port and that of the other end."""
    found = {}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        own, other = (int(fields[place].partition(":")[2], 16) for place in (1, 2))
        found[own, other] = fields[9]
    return found


def _sockets_of(process: int) -> list[str]:
    """The inodes of the sockets that a process has open."""
    found = []
    folder = f"/proc/{process}/fd"
    for name in os.listdir(folder):
        with suppress(OSError):  # closed meanwhile
            target = os.readlink(f"{folder}/{name}")
            if target.startswith("socket:["):
                found.append(target[8:-1])
    return found
