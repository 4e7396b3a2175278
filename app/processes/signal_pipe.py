"""Waiting for signals, children and descriptors at once, without a thread."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Collection
from typing import Final

from app.processes.parent_pipe import supervisor_pipe

SAME_REQUEST: Final = 1.0  # seconds in which a second signal counts as the first one, sent twice
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class SignalPipe:
    """Ends a wait when a signal with a Python handler comes, or the state of a child changes: the
    interpreter writes a byte into the pipe at each signal."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        for descriptor in (self._reading, self._writing):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def wait(self, seconds: float | None, descriptors: Collection[int] = ()) -> set[int]:
        """Wait for a signal or a readable descriptor, at most ``seconds``; None: without limit.
        Returns the readable descriptors."""
        readable, _, _ = select.select([self._reading, *descriptors], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            while os.read(self._reading, 1024):
                pass
        return {*readable} - {self._reading}

    def close(self) -> None:
        """Stop listening, in a forked process or at the end."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(self._reading)
        os.close(self._writing)


class StopRequests(SignalPipe):
    """A signal pipe that also notes requests to stop: SIGTERM, SIGINT, or the end of ``bin/serve``.
    A second signal makes the request urgent.

    Args:
        on_request: called at the first request and when it becomes urgent. It interrupts the main
            thread.
    """

    def __init__(self, on_request: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.first_at: float | None = None  # monotonic
        self.is_urgent = False
        self._signalled_at: float | None = None
        self._on_request = on_request
        self._supervisor = supervisor_pipe()
        for number in STOP_SIGNALS:
            signal.signal(number, lambda *_: self._receive())

    def request(self) -> None:
        """Ask this process to stop."""
        if self.first_at is None:
            self.first_at = time.monotonic()
            self._on_request()

    def wait(self, seconds: float | None, descriptors: Collection[int] = ()) -> set[int]:
        followed = [] if self._supervisor is None else [self._supervisor]
        readable = super().wait(seconds, [*descriptors, *followed])
        if self._supervisor in readable:
            self._supervisor = None
            self.request()
        return readable

    def _receive(self) -> None:
        now = time.monotonic()
        if self._signalled_at is None:
            self._signalled_at = now
            self.request()
        elif now > self._signalled_at + SAME_REQUEST and not self.is_urgent:
            self.is_urgent = True
            self._on_request()
