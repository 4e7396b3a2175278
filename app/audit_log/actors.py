"""Who did what the log of an account has: also people who have left it, and keys that were revoked.

The index of actors is read from one to the next, however many entries each has.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import BigInteger, and_, bindparam, func, literal, select

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import AuditEntry
from app.values.strict_json import loads

_LAST = columns_of(AuditEntry).add_columns(func.max(AuditEntry.actor_id))


class LoggedActor(NamedTuple):
    """Who did something: ``type`` is one of ``app.policy.audit.ACTORS``; ``label`` is the email
    address or the name that their newest entry has."""

    id: str
    type: str
    label: str


def list_actors(account_id: str, most: int) -> list[LoggedActor]:
    """Who has entries in an account's log, as many as ``most``."""
    rows = _ACTORS.tuples(account_id=account_id, most=most)
    actors = ((actor_id, loads(body.encode())["actor"]) for actor_id, body in rows)
    return [LoggedActor(each, actor["type"], actor["label"]) for each, actor in actors]


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
