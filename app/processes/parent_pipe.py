"""A pipe by which a process learns that its parent is gone, however that died.

The parent keeps the one writing end open. When the kernel closes it for a dead parent, the child,
which reads, meets the end of the file. A byte that a living parent writes is a message; what it
means is up to the two.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import threading
import time
from collections.abc import Callable

VARIABLE = "CANOPY_PARENT_PIPE"  # number of the reading end, for the children of bin/serve


class ParentPipe:
    """The two ends. A process that is started by exec gets the reading end only, when passed on;
    one that is forked has both, and ``follow`` closes the writing one."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()

    def follow(
        self, on_exit: Callable[[], None], on_message: Callable[[], None] | None = None
    ) -> None:
        """In the child: call ``on_exit`` from a thread when the parent is gone, and ``on_message``
        for each message."""
        os.close(self.writing)
        _watch(self.reading, on_exit, on_message)

    def notify(self) -> None:
        """Send a message to the child, which may be gone. One that is sent before the child follows
        waits in the pipe."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.writing, b"\0")


def supervisor_pipe() -> int | None:
    """The reading end of ``bin/serve``'s pipe; None in a process started in another way."""
    number = os.environ.get(VARIABLE, "")
    return int(number) if number.isdigit() and _is_pipe(int(number)) else None


def exit_with_supervisor(grace: float) -> None:
    """Have this process end when ``bin/serve`` is gone: SIGTERM, and after ``grace`` seconds an
    exit in any case.

    Does nothing in a process that was started in another way.
    """
    reading = supervisor_pipe()
    if reading is not None:
        _watch(reading, lambda: _end(grace))


def _watch(
    reading: int, on_exit: Callable[[], None], on_message: Callable[[], None] | None = None
) -> None:
    def wait() -> None:
        while os.read(reading, 1):
            if on_message is not None:
                on_message()
        on_exit()

    threading.Thread(target=wait, name="parent-pipe", daemon=True).start()


def _is_pipe(descriptor: int) -> bool:
    """A process may inherit the variable without the descriptor."""
    with contextlib.suppress(OSError):
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    return False


def _end(grace: float) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace)
    os._exit(1)
