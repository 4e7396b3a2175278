"""The job that deletes what is kept for a time only."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, delete, exists, select, true, tuple_

from app.db.column_types import Base
from app.db.extensions import db
from app.db.transactions import transaction
from app.jobs.registry import Job
from app.models import (
    Delivery,
    DeliveryLog,
    Event,
    IdempotentResponse,
    Mail,
    MailedLink,
    OAuthAuthorization,
    OAuthToken,
    Session,
    SignInFailure,
    SignUp,
    Webhook,
)
from app.policy.bounds import EVENT_DAYS, IDEMPOTENCY_HOURS
from app.policy.deliveries import LOG_DAYS
from app.policy.mails import MAILS_KEPT_FOR
from app.policy.people import SESSION_IDLE, SESSION_LIFE
from app.values import clock
from app.values.ids import first_id

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
    of_moment: Callable[[datetime], Any] = lambda moment: moment  # what the column says of it


_IS_PENDING: Final = exists().where(Delivery.event_id == Event.id, Delivery.due_at.is_not(None))
_OLD: Final = (
    _Old(IdempotentResponse, IdempotentResponse.created_at, timedelta(hours=IDEMPOTENCY_HOURS)),
    # Identifiers sort by the time they were made.
    _Old(
        DeliveryLog,
        DeliveryLog.id,
        timedelta(days=LOG_DAYS),
        of_moment=partial(first_id, "log"),
    ),
    # With an event go its deliveries; what is still to be sent stays.
    _Old(Event, Event.created_at, timedelta(days=EVENT_DAYS), ~_IS_PENDING),
    _Old(Webhook, Webhook.deleted_at, timedelta(days=LOG_DAYS + 1)),  # its log is gone by then
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
    """Delete answers to requests that can no longer be repeated, old events, log entries and mails
    that are done, and links, sessions and tokens that are good for nothing any more.

    Returns the number of rows deleted.
    """
    moment = clock.now()
    return sum(_prune(old, old.of_moment(moment - old.age)) for old in _OLD)


def _prune(old: _Old, oldest: Any) -> int:
    """Delete rows whose time is ``oldest`` or before, in small transactions."""
    deleted = number = _delete_batch(old, oldest)
    while number == _BATCH_ROWS:
        time.sleep(_PAUSE_SECONDS)
        number = _delete_batch(old, oldest)
        deleted += number
    return deleted


def _delete_batch(old: _Old, oldest: Any) -> int:
    key = old.model.__mapper__.primary_key
    is_old = (old.time <= oldest) & old.besides
    batch = select(*key).where(is_old).order_by(old.time).limit(_BATCH_ROWS)
    # The age again: a key whose row is gone may be in use again.
    statement = delete(old.model).where(tuple_(*key).in_(batch), is_old)
    with transaction():
        options = {"synchronize_session": False}
        result: Any = db.session.execute(statement, execution_options=options)
    return int(result.rowcount)


JOBS: Final = (Job(prune, every_seconds=3600),)
