"""The connections whose requests are arriving, with their deadlines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

REQUEST_TIMEOUT: Final = 20.0  # seconds for a whole request; 16 MB at 7 Mbit/s
UPLOAD_TIMEOUT: Final = 300.0  # seconds for a request with a file; 50 MB at 1.4 Mbit/s


class ArrivingRequests:
    """Connections in the order of their deadlines. Slow uploads have a longer time, so they are
    kept apart."""

    def __init__(self) -> None:
        self._deadlines: dict[Any, float] = {}
        self._uploads: dict[Any, float] = {}

    def __len__(self) -> int:
        return len(self._deadlines) + len(self._uploads)

    def __contains__(self, conn: object) -> bool:
        return conn in self._deadlines or conn in self._uploads

    def add(self, conn: Any, now: float) -> None:
        """Start waiting for the rest of a request."""
        self._deadlines[conn] = now + REQUEST_TIMEOUT

    def remove(self, conn: Any) -> bool:
        """Stop waiting. Returns True if the connection was waited for."""
        deadline = self._deadlines.pop(conn, None) or self._uploads.pop(conn, None)
        return deadline is not None

    @property
    def oldest(self) -> Any:
        """The connection that has waited longest: an ordinary one if there is any."""
        return next(iter(self._deadlines or self._uploads))

    def expired(self, now: float, latest: float) -> Iterator[Any]:
        """Yield the connections past their deadline, and all of them after ``latest``. The caller
        removes each."""
        for waiting in (self._deadlines, self._uploads):
            while waiting:
                conn, deadline = next(iter(waiting.items()))
                if now <= min(deadline, latest):
                    break
                if waiting is self._deadlines and now <= latest and conn.request.framer.is_upload:
                    del waiting[conn]
                    self._uploads[conn] = now + UPLOAD_TIMEOUT - REQUEST_TIMEOUT
                else:
                    yield conn
