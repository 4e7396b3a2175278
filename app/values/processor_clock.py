"""The processor time of the request that a thread works on.

Between two steps of whatever takes long, the clock is asked if the request may go on: between rows
(``app.db.sqlite_interrupts``) and between batches (``app.values.batching``). A thread that works on
no request, as in a job or a command, may take any time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import thread_time
from typing import Final

_thread: Final = threading.local()


class ProcessorClock:
    """Measures the processor time of one request, in its thread.

    Args:
        limits: seconds, and the function that is called once the request has used more. The
            function may raise an error, which ends the request.
    """

    def __init__(self, *limits: tuple[float, Callable[[], None]]) -> None:
        self._limits = limits
        self._waited = 0.0
        self._refusal: Exception | None = None
        self._began = thread_time()

    def restart(self) -> None:
        """Measure anew."""
        self._waited = 0.0
        self._began = thread_time()

    def add(self, seconds: float) -> None:
        """Count what a server took of its own processor time for the request."""
        self._waited += seconds

    def used(self) -> float:
        """The processor seconds that the request has used."""
        return thread_time() - self._began + self._waited

    def check(self, waited: float = 0.0) -> None:
        """Call the functions of the limits that are passed.

        Args:
            waited: seconds for which the thread has waited for a server that works on the request.
        """
        used = self.used() + waited
        for seconds, passed in self._limits:
            if used > seconds:
                passed()

    def may_go_on(self, waited: float = 0.0) -> bool:
        """Return whether the request may go on. If not, ``raise_refusal`` raises the reason."""
        try:
            self.check(waited)
        except Exception as error:
            self._refusal = error
            return False
        return True

    def withdraw_refusal(self) -> None:
        """Forget the reason for which the request may not go on: its statement failed for another
        one."""
        self._refusal = None

    def raise_refusal(self) -> None:
        """Raise the reason for which the request may not go on, if a driver has ended a statement
        for it."""
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal


def begin(clock: ProcessorClock) -> None:
    """Let a clock measure this thread from now on."""
    _thread.clock = clock


def end() -> None:
    """Let no clock measure this thread any more."""
    _thread.clock = None


@contextmanager
def running(clock: ProcessorClock) -> Iterator[None]:
    """Let a clock measure this thread in the block."""
    begin(clock)
    try:
        yield
    finally:
        end()


def current() -> ProcessorClock | None:
    """The clock of this thread's request; None: it works on none."""
    clock: ProcessorClock | None = getattr(_thread, "clock", None)
    return clock


def add(seconds: float) -> None:
    """Count what another process took of its processor time for the request of this thread."""
    if (clock := current()) is not None:
        clock.add(seconds)


def used() -> float:
    """The processor seconds that the request of this thread has used; 0 if it works on none."""
    clock = current()
    return 0.0 if clock is None else clock.used()


def restart() -> None:
    """Measure the request of this thread anew: it goes on in pieces, in a slot of its own."""
    if (clock := current()) is not None:
        clock.restart()


def check() -> None:
    """Raise an error if the request of this thread may not go on."""
    if (clock := current()) is not None:
        clock.check()


def raise_refusal() -> None:
    """Raise the reason for which a driver has ended a statement of this thread's request, if it has
    one."""
    if (clock := current()) is not None:
        clock.raise_refusal()
