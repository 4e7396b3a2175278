"""The job that wipes stored token responses."""

from __future__ import annotations

from typing import Final

from app.db.transactions import transaction
from app.jobs.registry import Job
from app.oauth.issuing import wipe_expired_successors

_BATCH_ROWS: Final = 500  # per transaction


def wipe_successors() -> int:
    """Wipe the stored responses of refresh tokens whose grace period is over. Returns their number.

    The tokens themselves are kept until their authorization is deleted, so that reuse is detected.
    """
    wiped, number = 0, _BATCH_ROWS
    while number == _BATCH_ROWS:
        with transaction():
            number = wipe_expired_successors(_BATCH_ROWS)
        wiped += number
    return wiped


JOBS: Final = (Job(wipe_successors, every_seconds=30),)
