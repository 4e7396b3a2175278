"""Writing entries of the audit log, in the transaction of the change."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final, cast

import orjson
from flask import has_request_context, request

from app.audit import guard
from app.audit.origin import Actor, Origin, current_origin
from app.audit.targets import Target, instance_target, target_of
from app.auth.principal import Principal
from app.db.column_types import Base
from app.db.transactions import insert_row
from app.models import Account, AuditEntry
from app.policy.audit import ACTIONS, ACTORS, BEGINNING, INSTANCE, LONG_VALUE
from app.security.masking import without_secrets
from app.values import clock
from app.values.ids import new_id_at
from app.values.strict_json import canonical_json, dumps

_LABEL_LENGTH: Final = 300

Changes = Mapping[str, Any]  # by field: its old and new value, as {"from": …, "to": …}


def write_entry(
    action: str,
    about: Target | Base,
    *,
    account_id: str | None = None,
    changes: Changes | None = None,
    principal: Principal | None = None,
    actor: Actor | None = None,
    refused: bool = False,
) -> str:
    """Write an entry in the current transaction. Returns its id.

    Args:
        action: one of ``app.policy.audit.ACTIONS``.
        about: the target, or a row of a table that ``app.audit.targets`` lists.
        account_id: the account of the log; by default the row's.
        changes: the changed fields, without secrets and their hashes.
        principal: the principal who acts, if not the one of the request.
        actor: the actor without a principal, such as a person who is not signed in yet.
        refused: the action was attempted and refused.

    Raises:
        KeyError: the action is unknown.
    """
    if isinstance(about, Base):
        account_id = account_id or _account_of(about)
        about = target_of(about)
    assert account_id is not None, action
    origin = current_origin(principal)
    if actor is not None:
        origin = origin._replace(actor=actor)
    row = _entry_row(action, about, account_id, changes, origin, refused)
    insert_row(AuditEntry, row)
    guard.note_entry()
    return cast(str, row["id"])


def write_instance_entry(action: str, changes: Changes | None = None) -> None:
    """Write an entry about the whole instance, in its own log, in the current transaction."""
    write_entry(action, instance_target(), account_id=INSTANCE, changes=changes)


def write_read_entry(
    action: str, target: Target, *, account_id: str, changes: Changes | None = None
) -> None:
    """Write an entry about content that somebody reads; none for HEAD, which sends no content."""
    if not (has_request_context() and request.method == "HEAD"):
        write_entry(action, target, account_id=account_id, changes=changes)


def changes_of_new(values: Mapping[str, Any], *names: str) -> Changes:
    """Return the ``changes`` of a new resource: its fields with a value.

    Args:
        names: the fields; all by default.
    """
    return {
        name: {"from": None, "to": values[name]}
        for name in names or values
        if values[name] is not None
    }


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any], *names: str) -> Changes:
    """Return the ``changes`` from one state of a record to another.

    Args:
        names: the fields; all by default.
    """
    return {
        name: {"from": before[name], "to": after[name]}
        for name in names or after
        if before[name] != after[name]
    }


def _account_of(row: Any) -> str:
    account_id: str = row.id if isinstance(row, Account) else row.account_id
    return account_id


def _entry_row(
    action: str,
    target: Target,
    account_id: str,
    changes: Changes | None,
    origin: Origin,
    refused: bool,
) -> dict[str, Any]:
    ACTIONS[action]  # raises KeyError for an unknown one
    actor, via = origin
    assert actor.type in ACTORS, actor.type
    moment = clock.now()
    entry_id = new_id_at("audit_entry", moment)  # lists by time filter by id
    entry = {
        "id": entry_id,
        "account_id": account_id,
        "at": clock.format_time(moment),
        "action": action,
        "actor": _with_label(actor),
        "via": via._asdict(),
        "target": _with_label(target),
        "changes": _shortened_changes(dumps(changes)) if changes else None,
        "outcome": "refused" if refused else "done",
    }
    return {
        "id": entry_id,
        "account_id": account_id,
        "action": action,
        "actor_id": actor.id,
        "target_id": target.id,
        "body": canonical_json(entry).decode(),
    }


def _shortened_changes(text: bytes) -> Any:
    """Parse changes, and shorten long values: entries are stored for years, and nobody can delete
    them."""
    changes = orjson.loads(text)
    if len(text) > LONG_VALUE:
        for change in changes.values():
            change.update({side: _shorten_long_value(value) for side, value in change.items()})
    return changes


def _shorten_long_value(value: Any) -> Any:
    """A value, or for one longer than ``LONG_VALUE`` its beginning, number of bytes and SHA-256.

    Texts are measured in UTF-8, other values as canonical JSON.
    """
    text = canonical_json(value)
    if len(text) <= LONG_VALUE:
        return value
    original = value if isinstance(value, str) else text.decode()
    raw = original.encode()
    return {
        "beginning": original[:BEGINNING],
        "bytes": len(raw),
        "sha256": hashlib.sha256(raw).hexdigest(),
    }


def _with_label(whom: Actor | Target) -> dict[str, str | None]:
    # Somebody may type a token where an email address is asked for.
    label = without_secrets(whom.label)[:_LABEL_LENGTH]
    return {"type": whom.type, "id": whom.id, "label": label}
