"""The job that wipes what is kept for a moment only."""

from __future__ import annotations

from typing import Final

from app.db.extensions import db
from app.jobs.registry import Job
from app.oauth.issuing import forget_successors

_BATCH_ROWS: Final = 500  # a transaction


def forget_answers() -> int:
    """Wipe the kept answers of refresh tokens that do not give them again. Returns their number.

    The tokens themselves stay with their authorization: by them a theft is noticed.
    """
    wiped = number = forget_successors(_BATCH_ROWS)
    db.session.commit()
    while number == _BATCH_ROWS:
        number = forget_successors(_BATCH_ROWS)
        db.session.commit()
        wiped += number
    return wiped


JOBS: Final = (Job(forget_answers, every_seconds=30),)
