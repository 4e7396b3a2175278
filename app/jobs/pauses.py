"""Pauses of jobs that change many rows, a batch in each transaction.

On SQLite a transaction blocks all other changes, which have their turn in the pauses.
"""

from __future__ import annotations

import time
from typing import Final

from app.db.transactions import write_back
from app.jobs import shutdown

_TIMES: Final = 4.0  # as long as the transaction before it
_LONGEST: Final = 0.1  # seconds


def pause_after(began: float) -> None:
    """Pause after a transaction. Ends when the worker is asked to stop.

    Args:
        began: when it began, by ``time.monotonic``.
    """
    took = time.monotonic() - began
    write_back()
    shutdown.requested.wait(min(_TIMES * took, _LONGEST))
