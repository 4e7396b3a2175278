"""Correcting due times after the clock was set back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, cast

from sqlalchemy import Table, and_, exists, or_, select, update

from app.db.column_types import Base
from app.db.extensions import db
from app.db.queries import reading_connection
from app.values import clock

_TOLERANCE: Final = timedelta(minutes=1)  # for the clocks of several hosts


def shorten_waits(model: type[Base], longest: Sequence[timedelta]) -> int:
    """Correct rows that would wait too long, as after the clock was set back, in the current
    transaction. Returns their number.

    Args:
        model: has the columns ``attempts`` and ``due_at``.
        longest: the longest wait after no attempt, after one, and so on.
    """
    table, now, changed = cast("Table", model.__table__), clock.now(), 0
    rows = table.c
    waits = [
        (and_(rows.attempts == attempts, rows.due_at > now + wait + _TOLERANCE), now + wait)
        for attempts, wait in enumerate(longest)
    ]
    is_too_long = or_(*(condition for condition, _ in waits))
    with reading_connection() as connection:  # without a lock
        if not connection.scalar(select(exists().where(is_too_long))):
            return 0
    for condition, due_at in waits:
        statement = update(table).where(condition).values(due_at=due_at)
        changed += db.session.connection().execute(statement).rowcount
    return changed
