"""Reading an account's events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.http.errors import NotFound
from app.lists.pages import newest_first, page_rows
from app.lists.scanning import KeyedRows, Reader
from app.models import Event
from app.values.ids import first_id, is_id, last_id
from app.values.strict_json import Fragment, loads_own

_FILTERS: Final = {
    "type": Event.type == bindparam("type"),
    "since": Event.id >= bindparam("since"),
    "until": Event.id <= bindparam("until"),
}
_ONE = CompiledQuery(columns_of(Event, Event.body).where(Event.id == bindparam("event_id")))
_OF_SUBJECT = CompiledQuery(
    columns_of(Event, Event.body)
    .where(Event.subject_id == bindparam("subject_id"))
    .order_by(Event.subject_id, Event.id.desc())
    .limit(bindparam("limit"))
)
_SCANNED: Final = KeyedRows(columns_of(Event, Event.body), Event.id)
_SCANNED_AT_ONCE: Final = 50  # events, of up to 100 KB each


class EventQuery(NamedTuple):
    """A page of events, and its filters. Both ends of the time are included."""

    page: int = 1
    per_page: int = 20
    type: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def list_events(account_id: str, query: EventQuery) -> tuple[list[Fragment], int]:
    """Return the events of a page as they were sent, newest first, and the total of all pages."""
    filters = {"type": query.type} if query.type else {}
    filters |= {"since": first_id("event", query.since)} if query.since else {}
    filters |= {"until": last_id("event", query.until)} if query.until else {}
    values = {"account_id": account_id, **filters}
    total = int(_events_count_query(*filters).scalar(**values))
    rows = page_rows(
        query.page,
        query.per_page,
        total,
        lambda span: _events_page_query(span.backwards, *filters),
        values,
    )
    return [Fragment(body) for (body,) in rows], total


def scan_events(read: Reader, account_id: str) -> Iterator[list[Fragment]]:
    """Yield all events as they were sent, oldest first, in batches."""
    for rows in _SCANNED.batches(read, _SCANNED_AT_ONCE, account_id=account_id):
        yield [Fragment(row.body) for row in rows]


def read_event(account_id: str, event_id: str) -> Any:
    """Return an event as it was sent, byte for byte. Raises NotFound if there is none, or it was
    deleted since."""
    is_valid = is_id("event", event_id)
    row = _ONE.first(account_id=account_id, event_id=event_id) if is_valid else None
    if row is None:
        raise NotFound("This event does not exist, or is no longer kept.")
    return Fragment(row.body)


def latest_events(account_id: str, subject_id: str, limit: int) -> list[Any]:
    """Return the latest events about a record, such as a project, newest first."""
    rows = _OF_SUBJECT.all(account_id=account_id, subject_id=subject_id, limit=limit)
    return [loads_own(row.body.encode()) for row in rows]


@cache
def _events_count_query(*filters: str) -> CompiledQuery:
    total = columns_of(Event).add_columns(func.count().label("total"))
    return CompiledQuery(total.where(*(_FILTERS[name] for name in filters)))


@cache
def _events_page_query(backwards: bool, *filters: str) -> CompiledQuery:
    keys = columns_of(Event, Event.id).where(*(_FILTERS[name] for name in filters))
    rows = columns_of(Event, Event.body)
    return newest_first(keys, rows, (Event.id.expression,), backwards=backwards)
