"""Publishing that a row is gone from an account: it was deleted, or moved to another account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.auth.operator import acting_for, first_owner
from app.database_webhook import last_published
from app.database_webhook.auditing import record_entry
from app.database_webhook.change import Change
from app.database_webhook.reported import reported_fields
from app.database_webhook.table_adapter import TableAdapter
from app.db.extensions import db
from app.events.outbox import EventActor, emit
from app.models import Account
from app.policy.events import EVENTS
from app.policy.fields import ASSET, PROJECT
from app.values.ids import is_id

_NULLS: Final = dict.fromkeys(
    field.name for field in (*PROJECT, *ASSET) if field.nullable and field.in_events
)


def known_account(change: Change) -> object:
    """The account that a row was last known to be in: that of its last event, or, when it has none,
    what was reported."""
    last = last_published.account_of_subject(change.row_id)
    return change.old_record.get("account_id") if last is None else last.account_id


def owner_of(account_id: object) -> EventActor | None:
    """The owner of the account, as the actor. From here on the account's plan cannot change."""
    if not isinstance(account_id, str) or not is_id("account", account_id):
        return None
    shared = {"read": True, "key_share": True}
    account = db.session.get(Account, account_id, with_for_update=shared)
    owner = None if account is None else first_owner(account_id)
    return None if owner is None else EventActor.of(acting_for(account, owner))


def publish_move(
    rows: TableAdapter, change: Change, former: EventActor, record: Mapping[str, Any]
) -> bool:
    """Publish that a row has left an account for another one. False when that was published before.

    Args:
        former: the owner of the account that it has left.
        record: what the row is now, for what is not known of it from before.
    """
    known = last_published.last(former.account_id, change.row_id)
    if known and known.is_deleted:
        return False
    publish_deletion(rows, last_state(rows, change, known.data if known else record), former)
    return True


def last_state(rows: TableAdapter, change: Change, known: Mapping[str, Any]) -> dict[str, Any]:
    """A row as it was in an account that it is gone from.

    Args:
        known: what is known of it besides the columns that were reported.
    """
    reported = reported_fields(rows.fields, change.old_record)
    return {**_NULLS, **known, **reported, "id": change.row_id}


def is_complete(rows: TableAdapter, state: Mapping[str, Any]) -> bool:
    """Whether an event about a row that is gone would have all of its fields."""
    return state.keys() >= set(EVENTS[f"{rows.name}.deleted"].fields)


def publish_deletion(rows: TableAdapter, state: Mapping[str, Any], actor: EventActor) -> None:
    """Publish that a row is gone from the account of ``actor``, and enter it into its audit log."""
    emit(f"{rows.name}.deleted", state, actor)
    record_entry(f"{rows.name}.deleted", rows, state, actor.account_id)
