"""Pauses of jobs that change many rows, in a transaction for each batch.

On SQLite a transaction blocks all other changes: these have their turn in the pauses.
"""

from __future__ import annotations

import time
from typing import Final

from app.db.transactions import write_back
from app.jobs import shutdown

_FACTOR: Final = 4.0  # a pause is so many times as long as the transaction before it
_LONGEST: Final = 0.1  # seconds


def pause_after(began: float) -> None:
    """Pause after a transaction. Ends when the worker is asked to stop.

    Args:
        began: when the transaction began, by ``time.monotonic``.
    """
    took = time.monotonic() - began
    write_back()
    shutdown.requested.wait(min(_FACTOR * took, _LONGEST))
