"""The actors in an account's log, including people who have left and revoked keys.

The index is read from one actor to the next, however many entries each has.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import BigInteger, and_, bindparam, func, literal, select

from app.audit.log.bodies import BODY, read_body
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import AuditEntry
from app.values.strict_json import dumps

_LAST = columns_of(AuditEntry).add_columns(func.max(AuditEntry.actor_id))


class LoggedActor(NamedTuple):
    """An actor; ``type`` is one of ``app.policy.audit.ACTORS``, ``label`` the email address or the
    name in the newest entry."""

    id: str
    type: str  # empty if the entry is unreadable
    label: str


def list_actors(account_id: str, most: int) -> list[LoggedActor]:
    """Return at most ``most`` actors of an account's log."""
    return [_logged_actor(*row) for row in _read_newest_entries(account_id, most)]


def find_actors(account_id: str, name: str, most: int) -> list[LoggedActor]:
    """Return the ids of the first ``most`` actors with this name, in any case, or this id."""
    folded, in_json = name.casefold(), dumps(name).decode()[1:-1].casefold()
    # Parsing all of them takes seconds.
    likely = (
        row
        for row in _read_newest_entries(account_id, most)
        if in_json in row[1].decode(errors="replace").casefold()
    )
    actors = (_logged_actor(*row) for row in likely)
    return [actor for actor in actors if folded in (actor.label.casefold(), actor.id)]


def _read_newest_entries(account_id: str, most: int) -> list[tuple[Any, ...]]:
    """Return the id of each actor, and the body of their newest entry."""
    return _ACTORS.tuples(account_id=account_id, most=most)


def _logged_actor(actor_id: str, body: bytes) -> LoggedActor:
    entry = read_body(body)
    if entry is None:
        return LoggedActor(actor_id, "", actor_id)
    return LoggedActor(actor_id, entry["actor"]["type"], entry["actor"]["label"])


def _actors_query() -> CompiledQuery:
    first = select(literal(1).label("number"), _LAST.scalar_subquery().label("id"))
    ids = first.cte("found", recursive=True)
    before = _LAST.where(AuditEntry.actor_id < ids.c.id).scalar_subquery()
    is_next = and_(ids.c.id.is_not(None), ids.c.number < bindparam("most", type_=BigInteger))
    ids = ids.union_all(select(ids.c.number + 1, before).where(is_next))
    newest = columns_of(AuditEntry).add_columns(BODY).where(AuditEntry.actor_id == ids.c.id)
    body = newest.order_by(AuditEntry.id.desc()).limit(1).scalar_subquery()
    return CompiledQuery(select(ids.c.id, body.label("body")).where(ids.c.id.is_not(None)))


_ACTORS = _actors_query()
