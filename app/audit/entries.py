"""Writing an entry of the audit log. Whatever changes something calls ``record`` beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

import orjson
from flask import has_request_context, request
from sqlalchemy import Table

from app.audit import authenticity, guard
from app.audit.origin import Actor, Origin, current_origin
from app.auth.principal import Principal
from app.db.inserts import CompiledInsert
from app.models import AuditEntry
from app.policy.audit import ACTIONS, ACTORS
from app.security.masking import without_secrets
from app.values import clock
from app.values.ids import new_id_at
from app.values.strict_json import canonical, dumps

_INSERT: Final = CompiledInsert(
    cast("Table", AuditEntry.__table__),
    *("id", "account_id", "action", "actor_id", "target_id", "body", "mac"),
)
_LABEL_LENGTH: Final = 300

Changes = Mapping[str, Any]  # by field: what it was and is, as {"from": …, "to": …}


class Target(NamedTuple):
    """What something is done to, as it is called at that time."""

    type: str
    id: str | None
    label: str


def record(
    action: str,
    target: Target,
    *,
    account_id: str,
    changes: Changes | None = None,
    principal: Principal | None = None,
    actor: Actor | None = None,
    refused: bool = False,
) -> str:
    """Write an entry in the current transaction. Returns its id.

    Args:
        action: one of ``app.policy.audit.ACTIONS``.
        account_id: in whose log; ``app.policy.audit.INSTANCE`` is that of the instance.
        changes: never a secret, nor its hash.
        principal: in whose name, where that is not the one who sent the request.
        actor: who, where that is somebody else, such as a person who is not signed in yet.
        refused: whether it was attempted in vain.

    Raises:
        KeyError: the action is unknown.
    """
    origin = current_origin(principal)
    if actor is not None:
        origin = origin._replace(actor=actor)
    row = _row(action, target, account_id, changes, origin, refused)
    _INSERT.run(row)
    guard.note_entry()
    return cast(str, row["id"])


def record_read(
    action: str, target: Target, *, account_id: str, changes: Changes | None = None
) -> None:
    """Write an entry about content that somebody gets, as ``record`` does. The response to a HEAD
    has none, so there is no entry of it."""
    if not (has_request_context() and request.method == "HEAD"):
        record(action, target, account_id=account_id, changes=changes)


def created(record: Mapping[str, Any], *names: str) -> Changes:
    """The ``changes`` of something new: the fields that have a value.

    Args:
        names: of the fields; all of the record when left out.
    """
    return {
        name: {"from": None, "to": record[name]}
        for name in names or record
        if record[name] is not None
    }


def changed(before: Mapping[str, Any], after: Mapping[str, Any], *names: str) -> Changes:
    """The fields in which two states of a record differ.

    Args:
        names: of the fields; all of the record when left out.
    """
    return {
        name: {"from": before[name], "to": after[name]}
        for name in names or after
        if before[name] != after[name]
    }


def _row(
    action: str,
    target: Target,
    account_id: str,
    changes: Changes | None,
    origin: Origin,
    refused: bool,
) -> dict[str, Any]:
    ACTIONS[action]  # so that a new one is listed
    actor, via = origin
    assert actor.type in ACTORS, actor.type
    moment = clock.now()
    entry_id = new_id_at("audit_entry", moment)  # so that ids find the entries of a time
    entry = {
        "id": entry_id,
        "account_id": account_id,
        "at": clock.format_time(moment),
        "action": action,
        "actor": _labelled(actor),
        "via": via._asdict(),
        "target": _labelled(target),
        # Read again, as what is stored as JSON goes into it unparsed and in any order.
        "changes": orjson.loads(dumps(changes)) if changes else None,
        "outcome": "refused" if refused else "done",
    }
    body = canonical(entry)
    return {
        "id": entry_id,
        "account_id": account_id,
        "action": action,
        "actor_id": actor.id,
        "target_id": target.id,
        "body": body.decode(),
        "mac": authenticity.code_of(body),
    }


def _labelled(whom: Actor | Target) -> dict[str, str | None]:
    # Somebody may type a token where an email address is asked for.
    label = without_secrets(whom.label)[:_LABEL_LENGTH]
    return {"type": whom.type, "id": whom.id, "label": label}
