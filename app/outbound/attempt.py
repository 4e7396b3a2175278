"""One attempt to call a server: its deadline, the duration of its phases, its error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal, NamedTuple

from app.policy.deliveries import FailureReason
from app.values.deadline import Deadline

Phase = Literal["resolve_ms", "connect_ms", "tls_ms", "wait_ms"]


class Timing(NamedTuple):
    """The duration of each phase in milliseconds. None: it was not reached, or not needed as the
    connection was kept."""

    resolve_ms: int | None = None
    connect_ms: int | None = None
    tls_ms: int | None = None
    wait_ms: int | None = None  # from the first byte sent until the status


_SLOW: Final = (
    FailureReason.SLOW_NAME,
    FailureReason.SLOW_CONNECT,
    FailureReason.SLOW_TLS,
    FailureReason.SLOW_RESPONSE,
)


class EgressError(Exception):
    """There was no response. The message comes from a FailureReason, and shows no address."""

    def __init__(self, reason: FailureReason) -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.is_timeout = reason in _SLOW
        self.timing = Timing()


class Attempt:
    """One deadline for all phases of an attempt, and their durations.

    Args:
        connect_seconds: limit for the phases before the request is sent.
    """

    def __init__(self, deadline: Deadline, connect_seconds: float | None = None) -> None:
        self.deadline = deadline
        self.connect_deadline = deadline.within(connect_seconds) if connect_seconds else deadline
        self._milliseconds: dict[str, int] = {}

    @contextmanager
    def phase(self, name: Phase) -> Iterator[None]:
        """Measure the block, also if it fails."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._milliseconds[name] = round((time.monotonic() - began) * 1000)

    def timing(self) -> Timing:
        return Timing(**self._milliseconds)
