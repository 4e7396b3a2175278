"""The list of an account's events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery, engine
from app.lists.pages import newest_first, page_rows
from app.lists.scanning import KeyedRows, Reader
from app.models import Event
from app.values import clock
from app.values.strict_json import Fragment

_FILTERS: Final = {
    "type": Event.type == bindparam("type"),
    "since": Event.created_at >= bindparam("since"),
    "until": Event.created_at <= bindparam("until"),
}
_SCANNED: Final = KeyedRows(columns_of(Event, Event.body), Event.created_at, Event.id)
_SCANNED_AT_ONCE: Final = 50  # one may have some 100 KB


class EventQuery(NamedTuple):
    """Which events, which page; both ends of the time are included."""

    page: int = 1
    per_page: int = 20
    type: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def list_events(account_id: str, query: EventQuery) -> tuple[list[Fragment], int]:
    """The events of one page as they were sent, the newest first, and how many there are on all
    pages."""
    filters: dict[str, Any] = {"type": query.type} if query.type else {}
    for name, moment in (("since", query.since), ("until", query.until)):
        if moment is not None:
            filters[name] = clock.parse_time(clock.format_time(moment))
    values = {"account_id": account_id, **filters}
    total = int(_count(*filters).scalar(**values))
    dialect = engine().dialect.name
    rows = page_rows(
        query.page,
        query.per_page,
        total,
        lambda wanted: _page(dialect, wanted.backwards, *filters),
        values,
    )
    return [Fragment(body) for (body,) in rows], total


def scan_events(read: Reader, account_id: str) -> Iterator[list[Fragment]]:
    """Yield all events as they were sent, the oldest first, in batches."""
    for rows in _SCANNED.batches(read, _SCANNED_AT_ONCE, account_id=account_id):
        yield [Fragment(row.body) for row in rows]


@cache
def _count(*filters: str) -> CompiledQuery:
    found = columns_of(Event).add_columns(func.count().label("total"))
    return CompiledQuery(found.where(*(_FILTERS[name] for name in filters)))


@cache
def _page(dialect: str, backwards: bool, *filters: str) -> CompiledQuery:
    keys = columns_of(Event, Event.id).where(*(_FILTERS[name] for name in filters))
    order = (Event.created_at.expression, Event.id.expression)
    rows = columns_of(Event, Event.body)
    return newest_first(keys, rows, order, dialect, backwards=backwards)
