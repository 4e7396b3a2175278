"""Sharing a processor with the other threads of a process."""

from __future__ import annotations

import time
from typing import Final

_MOMENT: Final = 0.002  # seconds; enough for a thread to answer a request that costs little


def let_others_run() -> None:
    """Wait for a moment. To be called between steps that take tens of milliseconds each and during
    which no other thread runs: one that got a turn between two of them would come no further than
    to its next wait."""
    time.sleep(_MOMENT)
