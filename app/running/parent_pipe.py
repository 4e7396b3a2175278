"""A pipe by which a process learns that another one is gone, however that died.

Its holder keeps the one writing end open, and a follower that reads meets the end of the file at
the moment at which the kernel closes that end for a dead holder. What a living holder writes to it
is a word to its follower: what that means is theirs to agree.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import threading
import time
from collections.abc import Callable

VARIABLE = "CANOPY_LIFELINE"  # number of the reading end, for the children of bin/serve


class ParentPipe:
    """The two ends. A process that is started by exec gets the reading end only, when passed on;
    one that is forked has both, and ``follow`` closes the writing one."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()

    def follow(self, then: Callable[[], None], told: Callable[[], None] | None = None) -> None:
        """Call ``then`` from a thread when the holder is gone, and ``told`` at each word of it."""
        os.close(self.writing)
        _watch(self.reading, then, told)

    def tell(self) -> None:
        """A word to the follower, who may be gone. One that comes before it listens is kept."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.writing, b"\0")


def supervisor_pipe() -> int | None:
    """The reading end of ``bin/serve``'s lifeline; None in a process started in another way."""
    number = os.environ.get(VARIABLE, "")
    return int(number) if number.isdigit() and _is_pipe(int(number)) else None


def exit_with_supervisor(grace: float) -> None:
    """End this process when ``bin/serve`` is gone: first as SIGTERM does, after ``grace`` at once.

    Does nothing in a process that was started in another way.
    """
    reading = supervisor_pipe()
    if reading is not None:
        _watch(reading, lambda: _end(grace))


def _watch(reading: int, then: Callable[[], None], told: Callable[[], None] | None = None) -> None:
    def wait() -> None:
        while os.read(reading, 1):
            if told is not None:
                told()
        then()

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def _is_pipe(descriptor: int) -> bool:
    """The variable may have reached a process that the descriptor did not."""
    with contextlib.suppress(OSError):
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    return False


def _end(grace: float) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace)
    os._exit(1)
