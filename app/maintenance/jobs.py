"""The jobs that delete expired rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import bindparam, exists, func, select

from app.db.column_types import byte_length
from app.db.extensions import db
from app.db.transactions import transaction
from app.jobs.registry import Job
from app.maintenance.history_bytes import note_history
from app.maintenance.pruning import ExpiredRows, has_expired, prune_tables
from app.models import (
    AttemptCount,
    CredentialRequest,
    Delivery,
    DeliveryLog,
    Event,
    IdempotentResponse,
    Import,
    ImportFile,
    Mail,
    MailedLink,
    OAuthAuthorization,
    OAuthToken,
    PendingSignIn,
    Session,
    SignInAttempt,
    SignInFailure,
    SignUp,
    UsedChallenge,
    Webhook,
)
from app.policy.deliveries import LOG_DAYS
from app.policy.imports import UPLOAD_HOURS
from app.policy.mails import MAILS_KEPT_FOR
from app.policy.people import SESSION_IDLE, SESSION_LIFE
from app.policy.request_limits import EVENT_DAYS, IDEMPOTENCY_HOURS, REQUEST_DAYS
from app.values.clock import day_of
from app.values.ids import first_id

_HAS_DELIVERY: Final = exists().where(Delivery.event_id == Event.id)
_EVENT_SIZES: Final = (
    select(Event.account_id, func.count(), func.sum(byte_length(Event.body)))
    .where(Event.id.in_(bindparam("ids", expanding=True)))
    .group_by(Event.account_id)
)
_DELIVERY_NUMBERS: Final = select(Delivery.account_id, 2 * func.count()).group_by(
    Delivery.account_id
)
_DELIVERY_SIZES: Final = _DELIVERY_NUMBERS.where(Delivery.id.in_(bindparam("ids", expanding=True)))
_WEBHOOK_DELIVERY_SIZES: Final = _DELIVERY_NUMBERS.where(
    Delivery.webhook_id.in_(bindparam("ids", expanding=True))
)


def _note_deleted(statements: Iterable[Any], ids: Sequence[str]) -> None:
    """Note the rows with these ids as deleted from the histories of their accounts."""
    for statement in statements:
        for account_id, rows, *sizes in db.session.execute(statement, {"ids": ids}):
            note_history(account_id, -rows, *(-int(size) for size in sizes))


_FREQUENT: Final = (
    ExpiredRows(
        IdempotentResponse, IdempotentResponse.created_at, timedelta(hours=IDEMPOTENCY_HOURS)
    ),
    # Identifiers sort by time of creation.
    ExpiredRows(
        DeliveryLog,
        DeliveryLog.id,
        timedelta(days=LOG_DAYS),
        to_column=partial(first_id, "log"),
    ),
    # An event is deleted after its deliveries (replays can add very many), and stays while one is
    # pending.
    ExpiredRows(
        Delivery,
        Delivery.event_id,
        timedelta(days=EVENT_DAYS),
        Delivery.due_at.is_(None),
        to_column=partial(first_id, "event"),
        before_delete=partial(_note_deleted, (_DELIVERY_SIZES,)),
    ),
    ExpiredRows(
        Event,
        Event.id,
        timedelta(days=EVENT_DAYS),
        ~_HAS_DELIVERY,
        to_column=partial(first_id, "event"),
        before_delete=partial(_note_deleted, (_EVENT_SIZES,)),
    ),
)
_HAS_IMPORT: Final = exists().where(Import.upload_id == ImportFile.upload_id)
_OTHERS: Final = (
    ExpiredRows(ImportFile, ImportFile.created_at, timedelta(hours=UPLOAD_HOURS), ~_HAS_IMPORT),
    ExpiredRows(AttemptCount, AttemptCount.hour, timedelta(days=LOG_DAYS, hours=1)),
    ExpiredRows(
        Webhook,
        Webhook.deleted_at,
        timedelta(days=LOG_DAYS + 1),  # after its log
        before_delete=partial(_note_deleted, (_WEBHOOK_DELIVERY_SIZES,)),
    ),
    ExpiredRows(Mail, Mail.created_at, MAILS_KEPT_FOR, Mail.due_at.is_(None)),
    ExpiredRows(SignUp, SignUp.expires_at, timedelta()),
    ExpiredRows(MailedLink, MailedLink.expires_at, timedelta()),
    ExpiredRows(SignInAttempt, SignInAttempt.expires_at, timedelta()),
    ExpiredRows(SignInFailure, SignInFailure.began_at, timedelta(days=1)),
    ExpiredRows(PendingSignIn, PendingSignIn.expires_at, timedelta()),
    ExpiredRows(UsedChallenge, UsedChallenge.used_at, timedelta(days=1)),
    ExpiredRows(Session, Session.last_used_at, SESSION_IDLE),
    ExpiredRows(Session, Session.created_at, SESSION_LIFE),
    # Used refresh tokens stay as long as their authorization: reuse reveals a theft.
    ExpiredRows(OAuthToken, OAuthToken.expires_at, timedelta(days=1), OAuthToken.kind == "access"),
    ExpiredRows(OAuthAuthorization, OAuthAuthorization.ends_at, timedelta(days=1)),
    ExpiredRows(
        CredentialRequest, CredentialRequest.day, timedelta(days=REQUEST_DAYS), to_column=day_of
    ),
)


def prune_events() -> int:
    """Delete old events, log entries and stored responses. Returns the number of rows.

    Runs often, as they come at the rate of changes; then each run is short.
    """
    return prune_tables(_FREQUENT, transaction)


def prune() -> int:
    """Delete old uploads, mails and request counts, and expired links, sessions and tokens. Returns
    the number of rows."""
    return prune_tables(_OTHERS, transaction)


JOBS: Final = (
    Job(prune_events, every_seconds=15, is_due=lambda: has_expired(_FREQUENT)),
    Job(prune, every_seconds=3600),
)
