"""The processor time of the request that a thread works on.

The clock is checked between the steps of long work: between rows
(``app.db.sqlite_interrupts``) and between batches (``app.values.batching``). A thread without a
request, as in a job or a command, may take any time.
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
        limits: pairs of seconds and the function to call once the request has used more. The
            function may raise an error, which ends the request.
    """

    def __init__(self, *limits: tuple[float, Callable[[], None]]) -> None:
        self._limits = limits
        self._waited = 0.0
        self._refusal: Exception | None = None
        self._began = thread_time()

    def restart(self) -> None:
        """Restart from zero."""
        self._waited = 0.0
        self._began = thread_time()

    def add(self, seconds: float) -> None:
        """Add processor time that a server has used for the request."""
        self._waited += seconds

    def used(self) -> float:
        """The processor seconds that the request has used."""
        return thread_time() - self._began + self._waited

    def check(self, waited: float = 0.0) -> None:
        """Call the functions of exceeded limits.

        Args:
            waited: seconds of waiting for a server that works on the request.
        """
        used = self.used() + waited
        for seconds, passed in self._limits:
            if used > seconds:
                passed()

    def may_go_on(self, waited: float = 0.0) -> bool:
        """True if the request may go on. Else ``raise_refusal`` raises the reason."""
        try:
            self.check(waited)
        except Exception as error:
            self._refusal = error
            return False
        return True

    def withdraw_refusal(self) -> None:
        """Discard the refusal: the statement failed for another reason."""
        self._refusal = None

    def raise_refusal(self) -> None:
        """Raise the refusal for which a driver has ended a statement, if there is one."""
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal


def begin(clock: ProcessorClock) -> None:
    """Measure this thread with a clock from now on."""
    _thread.clock = clock


def end() -> None:
    """Stop measuring this thread."""
    _thread.clock = None


@contextmanager
def running(clock: ProcessorClock) -> Iterator[None]:
    """Measure this thread with a clock in the block."""
    begin(clock)
    try:
        yield
    finally:
        end()


def current() -> ProcessorClock | None:
    """The clock of this thread's request; None without a request."""
    clock: ProcessorClock | None = getattr(_thread, "clock", None)
    return clock


def add(seconds: float) -> None:
    """Add processor time that another process has used for the request of this thread."""
    if (clock := current()) is not None:
        clock.add(seconds)


def used() -> float:
    """The processor seconds that the request of this thread has used; 0 without a request."""
    clock = current()
    return 0.0 if clock is None else clock.used()


def restart() -> None:
    """Restart the clock of this thread's request, which continues in pieces in its own slot."""
    if (clock := current()) is not None:
        clock.restart()


def check() -> None:
    """Raise an error if the request of this thread may not go on."""
    if (clock := current()) is not None:
        clock.check()


def raise_refusal() -> None:
    """Raise the refusal for which a driver has ended a statement of this request, if there is
    one."""
    if (clock := current()) is not None:
        clock.raise_refusal()
