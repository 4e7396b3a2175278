"""Waiting for signals, children and descriptors in one place, without a thread."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Collection


class SignalPipe:
    """Ends a wait when a signal comes that has a handler in Python, or the state of a child
    changes. The bytes that the interpreter writes at each signal make the pipe readable."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        for descriptor in (self._reading, self._writing):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def wait(self, seconds: float | None, descriptors: Collection[int] = ()) -> set[int]:
        """Wait for a signal or until a descriptor can be read, for so many seconds at most; None:
        however long. Returns the descriptors that can be read."""
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
