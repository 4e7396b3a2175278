"""The operations on events."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.http.errors import NotFound
from app.models import Event
from app.values.ids import is_id
from app.values.strict_json import Fragment, loads_own

_ONE = CompiledQuery(columns_of(Event, Event.body).where(Event.id == bindparam("event_id")))
_OF_SUBJECT = CompiledQuery(
    columns_of(Event, Event.body)
    .where(Event.subject_id == bindparam("subject_id"))
    .order_by(Event.subject_id, Event.id.desc())
    .limit(bindparam("most"))
)


def latest_events(account_id: str, subject_id: str, most: int) -> list[Any]:
    """The latest events about one record, such as a project, the newest first."""
    rows = _OF_SUBJECT.all(account_id=account_id, subject_id=subject_id, most=most)
    return [loads_own(row.body.encode()) for row in rows]


def read_event(account_id: str, event_id: str) -> Any:
    """An event as it was sent, byte for byte. Raises NotFound when there is none, or it was
    deleted."""
    known = is_id("event", event_id)
    row = _ONE.first(account_id=account_id, event_id=event_id) if known else None
    if row is None:
        raise NotFound("This event does not exist, or is no longer kept.")
    return Fragment(row.body)
