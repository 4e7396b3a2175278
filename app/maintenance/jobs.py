"""The job that deletes what is kept for a time only."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import delete, select, tuple_

from app.core import clock
from app.extensions import db
from app.models import Event, IdempotentAnswer
from app.policy.bounds import EVENT_DAYS, IDEMPOTENCY_HOURS

_BATCH_ROWS: Final = 500  # a transaction; on SQLite nobody else writes meanwhile
# Between two batches: SQLite gives its lock to whoever asks at the right moment, and those who wait
# ask ever more seldom.
_PAUSE_SECONDS: Final = 0.1


def prune() -> int:
    """Delete answers to requests that can no longer be repeated, and old events.

    Returns the number of rows deleted.
    """
    moment = clock.now()
    answers = _prune_older(IdempotentAnswer, moment - timedelta(hours=IDEMPOTENCY_HOURS))
    return answers + _prune_older(Event, moment - timedelta(days=EVENT_DAYS))


def _prune_older(model: type[IdempotentAnswer] | type[Event], oldest: datetime) -> int:
    """Delete rows that are as old as ``oldest`` or older, in small transactions."""
    deleted = number = _delete_batch(model, oldest)
    while number == _BATCH_ROWS:
        time.sleep(_PAUSE_SECONDS)
        number = _delete_batch(model, oldest)
        deleted += number
    return deleted


def _delete_batch(model: type[IdempotentAnswer] | type[Event], oldest: datetime) -> int:
    key = model.__mapper__.primary_key
    is_old = model.created_at <= oldest
    batch = select(*key).where(is_old).order_by(model.created_at).limit(_BATCH_ROWS)
    # The age again: a key whose answer is gone may be in use again.
    statement = delete(model).where(tuple_(*key).in_(batch), is_old)
    result: Any = db.session.execute(statement, execution_options={"synchronize_session": False})
    db.session.commit()
    return int(result.rowcount)
