"""Pauses of jobs that change many rows in a transaction for each batch. On SQLite a transaction
blocks all other changes, which get their turn in the pauses."""

from __future__ import annotations

import time
from typing import Final

from app.db.transactions import write_back
from app.jobs import shutdown

FACTOR: Final = 4.0  # length of a pause relative to the transaction before it
_MAX_SECONDS: Final = 0.1


def pause_after(began: float) -> bool:
    """Pause after a transaction. Returns True at once when the worker is asked to stop.

    Args:
        began: start of the transaction by ``time.monotonic``.
    """
    seconds = time.monotonic() - began
    write_back()
    return shutdown.requested.wait(min(FACTOR * seconds, _MAX_SECONDS))
