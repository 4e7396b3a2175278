"""A connection of httpx2 that another thread can cut, however slowly it is used.

The timeouts of that client are for single operations, and a server that sends a byte now and then
never meets them. So an exchange runs in a thread of its own, and its connection is shut down at the
deadline, which wakes the thread whatever it waits for.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Any


class Line:
    """The connection of one exchange.

    It is a second descriptor of the connection. The first one belongs to the exchange's thread,
    and closing it from another would give its number to somebody else's file.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._is_cut = False

    def watch(self, request: Any) -> None:
        """Before a request is sent: see it connect."""
        request.extensions["trace"] = self._trace

    def cut(self) -> None:
        """End the exchange, now or as soon as it is connected; one that is over stays so."""
        with self._lock:
            self._is_cut = True
            if self._connection is not None:
                self._end(self._connection)

    def _trace(self, event: str, info: dict[str, Any]) -> None:
        if event != "connection.connect_tcp.complete":
            return
        connection = info["return_value"].get_extra_info("socket").dup()
        with self._lock:
            if self._is_cut:
                self._end(connection)
            else:
                self._connection = connection

    @staticmethod
    def _end(connection: socket.socket) -> None:
        with suppress(OSError):  # the server was faster
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()
