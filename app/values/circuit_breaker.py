"""A circuit breaker: after a failure, one attempt at a time, at intervals."""

from __future__ import annotations

import threading
import time


class CircuitBreaker:
    """Limits attempts at something that has failed.

    Args:
        pause: seconds after a failure until the next attempt.
        longest: the longest duration of an attempt in seconds, without another one.
    """

    def __init__(self, pause: float, longest: float) -> None:
        self._pause, self._longest = pause, longest
        self._lock = threading.Lock()
        self._refused_until = 0.0  # monotonic; 0: it works

    @property
    def has_failed(self) -> bool:
        """True if the last attempt failed."""
        return self._refused_until > 0

    def may_attempt(self) -> bool:
        """True if the caller may attempt it now, and must then report the result.

        Without a report, the attempt ends after ``longest``.
        """
        if not self._refused_until:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._refused_until:
                return False
            self._refused_until = now + self._longest
            return True

    def on_success(self) -> None:
        self._refused_until = 0.0

    def on_failure(self) -> None:
        with self._lock:
            self._refused_until = time.monotonic() + self._pause
