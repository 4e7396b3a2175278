"""A pipe that tells a process that its parent is gone, however that died.

The parent keeps the only writing end open. When the kernel closes it for a dead parent, the child,
which reads, meets the end of the file. A byte that a living parent writes is a message; its meaning
is up to the two.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Callable

VARIABLE = "CANOPY_PARENT_PIPE"  # number of the reading end, for the children of bin/serve


class ParentPipe:
    """The two ends of the pipe. A process that is started by exec gets only the reading end, if it
    is passed on; one that is forked has both, and ``follow`` closes the writing one."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()

    def follow(
        self, on_exit: Callable[[], None], on_message: Callable[[], None] | None = None
    ) -> None:
        """In the child: call ``on_exit`` from a thread when the parent is gone, and ``on_message``
        for each message."""
        os.close(self.writing)

        def wait() -> None:
            while os.read(self.reading, 1):
                if on_message is not None:
                    on_message()
            on_exit()

        threading.Thread(target=wait, name="parent-pipe", daemon=True).start()

    def notify(self) -> None:
        """Send a message to the child, which may be gone. A message that is sent before the child
        follows waits in the pipe."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.writing, b"\0")


def supervisor_pipe() -> int | None:
    """The reading end of ``bin/serve``'s pipe, or None in a process that was started otherwise."""
    number = os.environ.get(VARIABLE, "")
    return int(number) if number.isdigit() and _is_pipe(int(number)) else None


def _is_pipe(descriptor: int) -> bool:
    """True for a pipe: a process may inherit the variable without the descriptor."""
    with contextlib.suppress(OSError):
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    return False
