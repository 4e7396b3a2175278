"""A deadline that several steps share."""

from __future__ import annotations

import time
from typing import Self


class Deadline:
    """A time on the monotonic clock, ``seconds`` from now."""

    __slots__ = ("at",)

    def __init__(self, seconds: float) -> None:
        self.at = time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.at

    def left(self) -> float:
        """Seconds until then, more than 0.

        Raises:
            TimeoutError: it is over.
        """
        seconds = self.at - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds

    def within(self, seconds: float) -> Self:
        """A deadline ``seconds`` from now, or this one if that is earlier."""
        sooner = type(self)(seconds)
        return sooner if sooner.at < self.at else self
