"""A circuit breaker: after a failure, only one attempt now and then."""

from __future__ import annotations

import threading
import time


class CircuitBreaker:
    """Decides whether to attempt something that has failed.

    Args:
        pause: seconds after a failure until the next attempt.
        longest: seconds that an attempt takes at most. Meanwhile there is no other one.
    """

    def __init__(self, pause: float, longest: float) -> None:
        self._pause, self._longest = pause, longest
        self._lock = threading.Lock()
        self._refused_until = 0.0  # monotonic; 0: it works

    @property
    def has_failed(self) -> bool:
        """True if the last attempt that ended was a failure."""
        return self._refused_until > 0

    def may_attempt(self) -> bool:
        """Return whether to attempt it now. The caller then reports the result; until it does, the
        attempt is taken to last for ``longest``."""
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
