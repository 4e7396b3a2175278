"""Pauses of jobs that change many rows, in a transaction for each batch.

On SQLite a transaction blocks all other changes: these have their turn in the pauses.
"""

from __future__ import annotations

import time
from typing import Final

from app.db.transactions import write_back
from app.jobs import shutdown

FACTOR: Final = 4.0  # a pause is this many times as long as the transaction before it
_LONGEST: Final = 0.1  # seconds


def pause_after(began: float) -> bool:
    """Pause after a transaction. Returns True, at once, when the worker is asked to stop.

    Args:
        began: when the transaction began, by ``time.monotonic``.
    """
    took = time.monotonic() - began
    write_back()
    return shutdown.requested.wait(min(FACTOR * took, _LONGEST))
