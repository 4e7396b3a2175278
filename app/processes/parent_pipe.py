"""A pipe that tells a process that its parent has died.

The parent holds the only writing end, which the kernel closes when the parent dies; the child reads
and gets the end of the file. A byte that the parent writes is a message, whose meaning is up to
them.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Callable

VARIABLE = "CANOPY_PARENT_PIPE"  # has the descriptor of the reading end, for children of bin/serve


class ParentPipe:
    """Both ends of the pipe. A process started by exec gets the reading end if it is passed on; a
    forked one has both, and ``follow`` closes the writing end."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()

    def follow(
        self, on_exit: Callable[[], None], on_message: Callable[[], None] | None = None
    ) -> None:
        """In the child: call ``on_exit`` in a thread when the parent has died, and ``on_message``
        for each message."""
        os.close(self.writing)

        def wait() -> None:
            while os.read(self.reading, 1):
                if on_message is not None:
                    on_message()
            on_exit()

        threading.Thread(target=wait, name="parent-pipe", daemon=True).start()

    def notify(self) -> None:
        """Send a message to the child, which may be gone. It waits in the pipe until the child
        follows."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.writing, b"\0")


def supervisor_pipe() -> int | None:
    """Return the reading end of ``bin/serve``'s pipe; None in a process that it did not start."""
    number = os.environ.get(VARIABLE, "")
    return int(number) if number.isdigit() and _is_pipe(int(number)) else None


def _is_pipe(descriptor: int) -> bool:
    """True if the descriptor is a pipe. A process may inherit the variable without it."""
    with contextlib.suppress(OSError):
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    return False
