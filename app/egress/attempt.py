"""One attempt to call an address: its clock, how long each phase took, how it failed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

from app.policy.deliveries import FailureReason

Phase = Literal["resolve_ms", "connect_ms", "tls_ms", "wait_ms"]


class Timing(NamedTuple):
    """Milliseconds of each phase. None: it was not reached, or not needed, as the connection was
    kept from an earlier attempt."""

    resolve_ms: int | None = None
    connect_ms: int | None = None
    tls_ms: int | None = None
    wait_ms: int | None = None  # from the first byte sent until the status


class EgressError(Exception):
    """There was no answer. The message is one of the policy's, and never tells an address."""

    def __init__(self, trouble: FailureReason, timing: Timing | None = None) -> None:
        super().__init__(trouble.value)
        self.trouble = trouble
        self.timing = timing or Timing()


class Attempt:
    """One wall clock over everything that an attempt does."""

    def __init__(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds  # on the clock of time.monotonic
        self._took: dict[str, int] = {}

    def left(self) -> float:
        """Seconds until the deadline; negative after it."""
        return self.deadline - time.monotonic()

    @contextmanager
    def phase(self, name: Phase) -> Iterator[None]:
        """Take the time of what runs inside, also when it fails."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self._took[name] = round((time.monotonic() - begun) * 1000)

    def timing(self) -> Timing:
        return Timing(**self._took)
