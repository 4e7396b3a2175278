"""Deleting an account with everything in it.

First nobody can use the account anymore, then its rows go, some at a time, so that no other change
waits for long. What was interrupted is continued by doing it again. No event is written: those who
would receive it go too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, func, update

from app.account.members.removal import purge_invited
from app.audit.entries import record
from app.audit.guard import covered_by_other_entry
from app.auth.tenant import columns_of, rows_of
from app.db.column_types import Base
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import NotFound
from app.limits.forgetting import forget_after_commit
from app.models import (
    Account,
    Asset,
    AuditCheckpoint,
    AuditEntry,
    Credential,
    DeliveryLog,
    Event,
    Import,
    ImportFeature,
    ImportFile,
    Mail,
    Membership,
    OAuthApplication,
    Project,
    Session,
    Webhook,
)
from app.oauth.consents import record_end_of_access
from app.policy.audit import INSTANCE
from app.values import clock

_BATCH_ROWS: Final = 100  # a project may have megabytes
_DELETION: Final = "the account's deletion has one entry, at its end"
_UNSYNCHRONIZED: Final = {"synchronize_session": False}


def _count(model: type[Base], *conditions: ColumnElement[bool]) -> CompiledQuery:
    return CompiledQuery(columns_of(model).add_columns(func.count()).where(*conditions))


_COUNTS: Final = {
    "projects": _count(Project),
    "assets": _count(Asset),
    "members": _count(Membership, Membership.joined_at.is_not(None)),
    "invitations": _count(Membership, Membership.joined_at.is_(None)),
    "api_keys": _count(Credential, Credential.kind == "api_key"),
    "service_tokens": _count(Credential, Credential.kind == "service_token"),
    "applications": _count(OAuthApplication),
    "webhooks": _count(Webhook, Webhook.deleted_at.is_(None)),
}


def count_contents(account_id: str) -> dict[str, int]:
    """How many of each thing an account has; invited people count as invitations."""
    return {name: int(query.scalar(account_id=account_id)) for name, query in _COUNTS.items()}


def delete_account(account_id: str) -> Iterator[None]:
    """Delete an account in steps. The caller commits after each of them, and at the end.

    Raises, also instead of a later step:
        NotFound: it is deleted, as another deletion of it was faster.
    """
    _end_access(account_id)
    # Also at this commit: if the process is killed right after the last one, nobody knows the id.
    forget_after_commit(account_id)
    yield
    for _ in _delete_contents(account_id):
        yield
    _delete_rest(account_id)
    forget_after_commit(account_id)


def _end_access(account_id: str) -> None:
    """Let nobody use an account from here on: no person, key, application or webhook.

    Sessions in it go on in no account, until their person chooses another one. Who was only invited
    is forgotten. From now on the deletion cannot be canceled, and if this is a command that is
    killed, the job goes on.
    """
    _make_due(_lock(account_id))
    _leave_sessions(account_id)
    for webhook in db.session.scalars(rows_of(account_id, Webhook).with_for_update()):
        webhook.enabled = False
        webhook.deleted_at = webhook.deleted_at or clock.now()
    for application in db.session.scalars(rows_of(account_id, OAuthApplication).with_for_update()):
        record_end_of_access(application)
    invited = rows_of(account_id, Membership).where(Membership.joined_at.is_(None))
    user_ids = db.session.scalars(invited.with_only_columns(Membership.user_id)).all()
    for model in (OAuthApplication, Credential, Membership):  # consents and tokens go with them
        delete_rows(model, model.account_id == account_id)
    purge_invited(user_ids)
    covered_by_other_entry(_DELETION)


def _delete_contents(account_id: str) -> Iterator[None]:
    """Delete what an account may have very many of, a batch at a time. Deliveries go with their
    events."""
    for webhook_id in db.session.scalars(
        rows_of(account_id, Webhook).with_only_columns(Webhook.id)
    ).all():
        yield from _delete_batches(
            account_id, DeliveryLog, DeliveryLog.id, DeliveryLog.webhook_id == webhook_id
        )
    for import_id in db.session.scalars(
        rows_of(account_id, Import).with_only_columns(Import.id)
    ).all():
        of_import = ImportFeature.import_id == import_id
        yield from _delete_batches(account_id, ImportFeature, ImportFeature.number, of_import)
    yield from _delete_batches(account_id, ImportFile, ImportFile.upload_id)
    yield from _delete_batches(account_id, Asset, Asset.row)
    yield from _delete_batches(account_id, Project, Project.row)
    yield from _delete_batches(account_id, Event, Event.id)
    yield from _delete_batches(account_id, AuditEntry, AuditEntry.id)


def _delete_rest(account_id: str) -> None:
    """Delete the account itself, and with it all that is left.

    The entry stands in the log of the instance, as the account's own goes too. It is locked first,
    so that nothing is sealed meanwhile; the job that seals deletes what is recorded later.
    """
    record("account.deleted", _lock(account_id), account_id=INSTANCE)
    delete_rows(AuditCheckpoint, AuditCheckpoint.account_id == account_id)
    delete_rows(AuditEntry, AuditEntry.account_id == account_id)  # written meanwhile
    delete_rows(Mail, Mail.cause.contains(account_id, autoescape=True))
    delete_rows(Account, Account.id == account_id)


def _lock(account_id: str) -> Account:
    account = db.session.get(Account, account_id, populate_existing=True, with_for_update=True)
    if account is None:
        raise NotFound("This account is already deleted.")
    return account


def _make_due(account: Account) -> None:
    """Set the time of an account's deletion to now, unless it has come. The operator deletes it."""
    moment = clock.now()
    if account.deletes_at is None or account.deletes_at > moment:
        account.deletes_at, account.deletion_scheduled_by = moment, None


def _leave_sessions(account_id: str) -> None:
    """Have the sessions in an account go on in none: what their people have open is of this one,
    and must not be saved in another."""
    own = update(Session).where(Session.current_account_id == account_id)
    db.session.execute(own.values(current_account_id=None))


def _delete_batches(
    account_id: str, model: type[Base], key: Any, *conditions: ColumnElement[bool]
) -> Iterator[None]:
    rows = rows_of(account_id, model).with_only_columns(key).where(*conditions)
    while True:
        keys = db.session.scalars(rows.limit(_BATCH_ROWS)).all()
        if not keys:
            return
        delete_rows(model, rows.whereclause, key.in_(keys))
        covered_by_other_entry(_DELETION)
        yield


def delete_rows(model: type[Base], *conditions: Any) -> None:
    """Delete the rows of a table for which all conditions hold, in the current transaction."""
    db.session.execute(delete(model).where(*conditions), execution_options=_UNSYNCHRONIZED)
