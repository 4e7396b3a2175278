"""The windows of a rate limit, and the result of a request."""

from __future__ import annotations

import math
from typing import NamedTuple


class Window(NamedTuple):
    """A fixed window that a request counts in."""

    name: str  # minute or day
    limit: int
    used: int
    ends_at: float  # seconds since 1970

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)


class LimitResult(NamedTuple):
    """The decision about a request, with its windows."""

    allowed: bool
    moment: float  # seconds since 1970
    windows: tuple[Window, ...]

    @property
    def tightest(self) -> Window | None:
        """The window that runs out first; of two equal ones, the longer one."""
        return min(
            self.windows, key=lambda window: (window.remaining, -window.ends_at), default=None
        )

    def headers(self) -> dict[str, str]:
        """``X-RateLimit-Limit``, ``-Remaining``, and ``-Reset`` in seconds since 1970."""
        window = self.tightest
        if window is None:
            return {}
        return {
            "X-RateLimit-Limit": str(window.limit),
            "X-RateLimit-Remaining": str(window.remaining),
            "X-RateLimit-Reset": str(math.ceil(window.ends_at)),
        }

    def retry_after(self) -> int:
        """Whole seconds until the end of the window that rejected the request; at least 1."""
        window = self.tightest
        return max(1, math.ceil(window.ends_at - self.moment)) if window is not None else 1
