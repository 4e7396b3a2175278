"""Runs of jobs that change many rows: they end in time, and the next run continues."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from app.db.extensions import db
from app.db.transactions import transaction
from app.jobs import shutdown
from app.jobs.pauses import pause_after

RUN_SECONDS: Final = 10.0  # mails and all other jobs wait for a run


class JobRun:
    """A run, which is over when its time is up or the worker is asked to stop."""

    def __init__(self) -> None:
        self._end = time.monotonic() + RUN_SECONDS

    @property
    def is_over(self) -> bool:
        return shutdown.requested.is_set() or time.monotonic() > self._end

    def pause(self, began: float) -> bool:
        """Pause after a transaction, as ``pause_after``. Returns True if the run is over."""
        return pause_after(began) or time.monotonic() > self._end

    def commit_each(self, steps: Iterable[None]) -> bool:
        """Commit each step, and pause. Returns False if there was no time for all of them."""
        began = time.monotonic()
        with transaction():
            for _ in steps:
                db.session.commit()
                if self.pause(began):
                    return False
                began = time.monotonic()
        return True
