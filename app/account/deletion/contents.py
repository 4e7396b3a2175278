"""Deleting an account with everything in it.

First all access to the account ends, then its rows are deleted in batches, so that no other change
waits for long. An interrupted deletion is continued by starting it again. No event is written, as
its receivers are deleted too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, func, update

from app.account.members.removal import purge_invited
from app.audit.entries import write_entry
from app.audit.guard import covered_by_other_entry
from app.auth.tenant import columns_of, rows_of
from app.db.batched_deletion import delete_batches
from app.db.column_types import Base, byte_length
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
    Delivery,
    DeliveryLog,
    Event,
    Import,
    ImportedRecord,
    ImportFeature,
    ImportFile,
    Mail,
    Membership,
    OAuthApplication,
    Project,
    Session,
    Webhook,
)
from app.oauth.consents import write_end_of_access
from app.policy.audit import INSTANCE
from app.projects.deletion import delete_in_steps
from app.values import clock
from app.values.text import pluralize

_DELETION: Final = "the account's deletion has one entry, at its end"
_UNSYNCHRONIZED: Final = {"synchronize_session": False}


def _row_count_query(model: type[Base], *conditions: ColumnElement[bool]) -> CompiledQuery:
    return CompiledQuery(columns_of(model).add_columns(func.count()).where(*conditions))


_COUNTS: Final = {
    "projects": _row_count_query(Project),
    "assets": _row_count_query(Asset),
    "members": _row_count_query(Membership, Membership.joined_at.is_not(None)),
    "invitations": _row_count_query(Membership, Membership.joined_at.is_(None)),
    "api_keys": _row_count_query(Credential, Credential.kind == "api_key"),
    "service_tokens": _row_count_query(Credential, Credential.kind == "service_token"),
    "applications": _row_count_query(OAuthApplication),
    "webhooks": _row_count_query(Webhook, Webhook.deleted_at.is_(None)),
}
_NOUNS: Final = {
    "projects": "project",
    "assets": "asset",
    "members": "member",
    "invitations": "invitation",
    "api_keys": "API key",
    "service_tokens": "service token",
    "applications": "application",
    "webhooks": "webhook",
}


def count_contents(account_id: str) -> dict[str, int]:
    """Count what an account has, by kind; invited people count as invitations."""
    return {name: int(query.scalar(account_id=account_id)) for name, query in _COUNTS.items()}


def describe_contents(counts: Mapping[str, int]) -> str:
    """Counts in words, such as ``30 projects, 1 asset and 2 members``; zeros are left out."""
    parts = [pluralize(number, _NOUNS[name]) for name, number in counts.items() if number]
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def delete_account(account_id: str) -> Iterator[None]:
    """Delete an account in steps. The caller commits after each of them and at the end.

    Raises, possibly after some steps:
        NotFound: another process has deleted it.
    """
    _end_access(account_id)
    # At this commit too: if the process is killed right after the last one, nobody knows the id.
    forget_after_commit(account_id)
    yield
    for _ in _delete_contents(account_id):
        yield
    _delete_rest(account_id)
    forget_after_commit(account_id)


def delete_rows(model: type[Base], *conditions: Any) -> None:
    """Delete the rows of a table for which all conditions hold, in the current transaction."""
    db.session.execute(delete(model).where(*conditions), execution_options=_UNSYNCHRONIZED)


def _end_access(account_id: str) -> None:
    """End all access to an account: of people, keys, applications and webhooks.

    Sessions in it continue in no account until their person chooses another one. People who were
    only invited are deleted. From now on the deletion cannot be canceled, and if this is a command
    that is killed, the job continues.
    """
    _make_due(_lock_account(account_id))
    _leave_sessions(account_id)
    for webhook in db.session.scalars(rows_of(account_id, Webhook).with_for_update()):
        webhook.enabled = False
        webhook.deleted_at = webhook.deleted_at or clock.now()
    for application in db.session.scalars(rows_of(account_id, OAuthApplication).with_for_update()):
        write_end_of_access(application)
    invited = rows_of(account_id, Membership).where(Membership.joined_at.is_(None))
    user_ids = db.session.scalars(invited.with_only_columns(Membership.user_id)).all()
    for model in (OAuthApplication, Credential, Membership):  # consents and tokens go with them
        delete_rows(model, model.account_id == account_id)
    purge_invited(user_ids)
    covered_by_other_entry(_DELETION)


def _delete_contents(account_id: str) -> Iterator[None]:
    """Delete large contents of an account in batches."""
    for _ in chain.from_iterable(_deletion_batches(account_id)):
        covered_by_other_entry(_DELETION)
        yield


def _deletion_batches(account_id: str) -> Iterator[Iterator[None]]:
    for webhook_id in _lock_row_ids(account_id, Webhook):
        logs = rows_of(account_id, DeliveryLog).where(DeliveryLog.webhook_id == webhook_id)
        yield delete_batches(DeliveryLog, logs)
    for import_id in _lock_row_ids(account_id, Import):
        features = rows_of(account_id, ImportFeature).where(ImportFeature.import_id == import_id)
        yield delete_batches(ImportFeature, features, byte_length(ImportFeature.geometry))
    yield delete_batches(ImportedRecord, rows_of(account_id, ImportedRecord))
    yield delete_batches(ImportFile, rows_of(account_id, ImportFile), func.length(ImportFile.data))
    yield delete_in_steps(account_id)
    yield delete_batches(
        Event,
        rows_of(account_id, Event),
        byte_length(Event.body),
        before=partial(_delete_deliveries, account_id),
    )
    yield delete_batches(AuditEntry, rows_of(account_id, AuditEntry))


def _delete_deliveries(account_id: str, keys: Sequence[tuple[str]]) -> Iterator[None]:
    """Delete the deliveries of some events; one event may have thousands."""
    event_ids = [event_id for (event_id,) in keys]
    own = rows_of(account_id, Delivery).where(Delivery.event_id.in_(event_ids))
    return delete_batches(Delivery, own)


def _lock_row_ids(account_id: str, model: type[Webhook] | type[Import]) -> Sequence[str]:
    return db.session.scalars(rows_of(account_id, model).with_only_columns(model.id)).all()


def _delete_rest(account_id: str) -> None:
    """Delete the account itself, and with it all that is left.

    The entry is in the log of the instance, as the account's own is deleted too. The account is
    locked first, so that nothing is sealed meanwhile; the sealing job deletes later entries.
    """
    write_entry("account.deleted", _lock_account(account_id), account_id=INSTANCE)
    delete_rows(AuditCheckpoint, AuditCheckpoint.account_id == account_id)
    delete_rows(AuditEntry, AuditEntry.account_id == account_id)  # written meanwhile
    delete_rows(Mail, Mail.cause.contains(account_id, autoescape=True))
    db.session.execute(update(Mail).where(Mail.turn_of == account_id).values(turn_of=""))
    delete_rows(Account, Account.id == account_id)


def _lock_account(account_id: str) -> Account:
    account = db.session.get(Account, account_id, populate_existing=True, with_for_update=True)
    if account is None:
        raise NotFound("This account is already deleted.")
    return account


def _make_due(account: Account) -> None:
    """Schedule an account's deletion for now, by the operator, unless it is due already."""
    now = clock.now()
    if account.deletes_at is None or account.deletes_at > now:
        account.deletes_at, account.deletion_scheduled_by = now, None


def _leave_sessions(account_id: str) -> None:
    """Let the sessions in an account continue in none: a form that is open in this account must not
    be saved in another."""
    own = update(Session).where(Session.current_account_id == account_id)
    db.session.execute(own.values(current_account_id=None))
