"""Another time of day for some processes. Their clocks that only go forward stay as they are.

libfaketime 0.9.10 is of no use for this: with it, Python's ``time.sleep`` fails (EINVAL) when
monotonic clocks are left alone, and never returns when they are not.
"""

from __future__ import annotations

import struct
from pathlib import Path

from trials.faults.preloaded import compile_library

_OFFSET = struct.Struct("=q")
_SOURCE = Path(__file__).with_suffix(".c")


class MovedClock:
    """A clock that can be moved while the processes that have it run."""

    def __init__(self, folder: Path, offset: int = 0) -> None:
        """
        Args:
            folder: where two files are made that the processes can read.
            offset: seconds by which it is ahead.

        Raises:
            CannotCause: this is not Linux, or there is no C compiler.
        """
        self._file = folder / "clock-offset"
        self._file.write_bytes(_OFFSET.pack(offset))
        library = compile_library(_SOURCE, folder)
        self.environ = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(self._file)}

    def move(self, offset: int) -> None:
        """Set it this many seconds ahead, for processes that run."""
        with self._file.open("r+b") as file:  # they have it in their memory
            file.write(_OFFSET.pack(offset))
