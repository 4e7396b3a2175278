"""The job that deletes expired rows."""

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

_BATCH_ROWS: Final = 500  # in a transaction, which on SQLite blocks all other writers
# Between two batches. On SQLite, waiting writers poll for the lock at growing intervals; without
# a pause they would rarely get it.
_PAUSE_SECONDS: Final = 0.1


class _Expired(NamedTuple):
    """The rows of a table whose time is longer ago than ``age``."""

    model: type[Base]
    time: Any  # the column
    age: timedelta
    condition: ColumnElement[bool] = true()  # of the rows that can expire
    to_column: Callable[[datetime], Any] = lambda time: time  # a time as a value of the column


_IS_PENDING: Final = exists().where(Delivery.event_id == Event.id, Delivery.due_at.is_not(None))
_EXPIRED: Final = (
    _Expired(IdempotentResponse, IdempotentResponse.created_at, timedelta(hours=IDEMPOTENCY_HOURS)),
    # Identifiers sort by time of creation.
    _Expired(
        DeliveryLog,
        DeliveryLog.id,
        timedelta(days=LOG_DAYS),
        to_column=partial(first_id, "log"),
    ),
    # The deliveries of an event are deleted with it, unless one is still pending.
    _Expired(Event, Event.created_at, timedelta(days=EVENT_DAYS), ~_IS_PENDING),
    _Expired(Webhook, Webhook.deleted_at, timedelta(days=LOG_DAYS + 1)),  # its log is gone by then
    _Expired(Mail, Mail.created_at, MAILS_KEPT_FOR, Mail.due_at.is_(None)),
    _Expired(SignUp, SignUp.expires_at, timedelta()),
    _Expired(MailedLink, MailedLink.expires_at, timedelta()),
    _Expired(SignInFailure, SignInFailure.began_at, timedelta(days=1)),
    _Expired(Session, Session.last_used_at, SESSION_IDLE),
    _Expired(Session, Session.created_at, SESSION_LIFE),
    # Used refresh tokens stay as long as their authorization: their reuse reveals a theft.
    _Expired(OAuthToken, OAuthToken.expires_at, timedelta(days=1), OAuthToken.kind == "access"),
    _Expired(OAuthAuthorization, OAuthAuthorization.ends_at, timedelta(days=1)),
)


def prune() -> int:
    """Delete stored responses, old events, logs and mails, and expired links, sessions and tokens.

    Returns the number of rows deleted.
    """
    now = clock.now()
    return sum(_prune(rows, rows.to_column(now - rows.age)) for rows in _EXPIRED)


def _prune(rows: _Expired, newest: Any) -> int:
    """Delete rows whose time is ``newest`` or before, in small transactions."""
    deleted = number = _delete_batch(rows, newest)
    while number == _BATCH_ROWS:
        time.sleep(_PAUSE_SECONDS)
        number = _delete_batch(rows, newest)
        deleted += number
    return deleted


def _delete_batch(rows: _Expired, newest: Any) -> int:
    key = rows.model.__mapper__.primary_key
    is_expired = (rows.time <= newest) & rows.condition
    batch = select(*key).where(is_expired).order_by(rows.time).limit(_BATCH_ROWS)
    # The condition again: another row may have the key of a deleted one by now.
    statement = delete(rows.model).where(tuple_(*key).in_(batch), is_expired)
    with transaction():
        options = {"synchronize_session": False}
        result: Any = db.session.execute(statement, execution_options=options)
    return int(result.rowcount)


JOBS: Final = (Job(prune, every_seconds=3600),)
