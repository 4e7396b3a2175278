"""The job that deletes what is kept for a time only."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, delete, select, true, tuple_

from app.core import clock
from app.core.tables import Base
from app.extensions import db
from app.models import (
    Event,
    IdempotentAnswer,
    Mail,
    MailedLink,
    OAuthAuthorization,
    OAuthToken,
    Session,
    SignInFailure,
    SignUp,
)
from app.policy.bounds import EVENT_DAYS, IDEMPOTENCY_HOURS
from app.policy.mails import MAILS_KEPT_FOR
from app.policy.people import SESSION_IDLE, SESSION_LIFE

_BATCH_ROWS: Final = 500  # a transaction; on SQLite nobody else writes meanwhile
# Between two batches: SQLite gives its lock to whoever asks at the right moment, and those who wait
# ask ever more seldom.
_PAUSE_SECONDS: Final = 0.1


class _Old(NamedTuple):
    """Rows of a table that are deleted: those whose time is so long ago."""

    model: type[Base]
    time: Any  # the column
    age: timedelta
    besides: ColumnElement[bool] = true()  # what else must hold


_OLD: Final = (
    _Old(IdempotentAnswer, IdempotentAnswer.created_at, timedelta(hours=IDEMPOTENCY_HOURS)),
    _Old(Event, Event.created_at, timedelta(days=EVENT_DAYS)),
    _Old(Mail, Mail.created_at, MAILS_KEPT_FOR, Mail.due_at.is_(None)),
    _Old(SignUp, SignUp.expires_at, timedelta()),
    _Old(MailedLink, MailedLink.expires_at, timedelta()),
    _Old(SignInFailure, SignInFailure.began_at, timedelta(days=1)),
    _Old(Session, Session.last_used_at, SESSION_IDLE),
    _Old(Session, Session.created_at, SESSION_LIFE),
    # Used refresh tokens stay with their authorization: by them a theft is noticed.
    _Old(OAuthToken, OAuthToken.expires_at, timedelta(days=1), OAuthToken.kind == "access"),
    _Old(OAuthAuthorization, OAuthAuthorization.ends_at, timedelta(days=1)),
)


def prune() -> int:
    """Delete answers to requests that can no longer be repeated, old events, mails that are done,
    and links, sessions and tokens that are good for nothing any more.

    Returns the number of rows deleted.
    """
    moment = clock.now()
    return sum(_prune(old, moment - old.age) for old in _OLD)


def _prune(old: _Old, oldest: datetime) -> int:
    """Delete rows whose time is ``oldest`` or before, in small transactions."""
    deleted = number = _delete_batch(old, oldest)
    while number == _BATCH_ROWS:
        time.sleep(_PAUSE_SECONDS)
        number = _delete_batch(old, oldest)
        deleted += number
    return deleted


def _delete_batch(old: _Old, oldest: datetime) -> int:
    key = old.model.__mapper__.primary_key
    is_old = (old.time <= oldest) & old.besides
    batch = select(*key).where(is_old).order_by(old.time).limit(_BATCH_ROWS)
    # The age again: a key whose row is gone may be in use again.
    statement = delete(old.model).where(tuple_(*key).in_(batch), is_old)
    result: Any = db.session.execute(statement, execution_options={"synchronize_session": False})
    db.session.commit()
    return int(result.rowcount)
