"""Who did what the log of an account has: also people who have left it, and keys that were revoked.

The index of actors is read from one to the next, however many entries each has.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import BigInteger, and_, bindparam, func, literal, select

from app.audit.proof.findings import printable
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery, reading_as_stored
from app.models import AuditEntry
from app.values.strict_json import JsonInvalid, dumps, loads_own

_LAST = columns_of(AuditEntry).add_columns(func.max(AuditEntry.actor_id))


class LoggedActor(NamedTuple):
    """Who did something: ``type`` is one of ``app.policy.audit.ACTORS``; ``label`` is the email
    address or the name that their newest entry has."""

    id: str
    type: str  # empty if the entry cannot be read
    label: str


def list_actors(account_id: str, most: int) -> list[LoggedActor]:
    """Who has entries in an account's log, as many as ``most``."""
    return [_actor(*row) for row in _read(account_id, most)]


def find_actors(account_id: str, name: str, most: int) -> list[LoggedActor]:
    """Those among as many as ``most`` who have this name, in any case, or have it as their id."""
    wanted, written = name.casefold(), dumps(name).decode()[1:-1].casefold()
    # Parsing all of them takes seconds.
    likely = (row for row in _read(account_id, most) if written in str(row[1]).casefold())
    found = (_actor(*row) for row in likely)
    return [actor for actor in found if wanted in (actor.label.casefold(), actor.id)]


def _read(account_id: str, most: int) -> list[tuple[str, Any]]:
    """The id of each, and the body of their newest entry."""
    with reading_as_stored():
        rows = _ACTORS.tuples(account_id=account_id, most=most)
    return [(printable(actor_id), body) for actor_id, body in rows]


def _actor(actor_id: str, body: Any) -> LoggedActor:
    try:
        actor = loads_own(body.encode())["actor"]
        kind, label = actor["type"], actor["label"]
    except (AttributeError, JsonInvalid, LookupError, TypeError):  # somebody has changed it
        kind = label = None
    if isinstance(kind, str) and isinstance(label, str):
        return LoggedActor(actor_id, kind, label)
    return LoggedActor(actor_id, "", actor_id)


def _actors() -> CompiledQuery:
    first = select(literal(1).label("number"), _LAST.scalar_subquery().label("id"))
    found = first.cte("found", recursive=True)
    before = _LAST.where(AuditEntry.actor_id < found.c.id).scalar_subquery()
    is_next = and_(found.c.id.is_not(None), found.c.number < bindparam("most", type_=BigInteger))
    found = found.union_all(select(found.c.number + 1, before).where(is_next))
    newest = columns_of(AuditEntry, AuditEntry.body).where(AuditEntry.actor_id == found.c.id)
    body = newest.order_by(AuditEntry.id.desc()).limit(1).scalar_subquery()
    return CompiledQuery(select(found.c.id, body.label("body")).where(found.c.id.is_not(None)))


_ACTORS = _actors()
