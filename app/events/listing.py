"""The list of an account's events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, bindparam, func

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery, engine
from app.lists.scanning import KeyedRows, Reader
from app.lists.statements import newest_first, page_rows
from app.models import Event
from app.values import clock
from app.values.strict_json import Fragment

_SCANNED: Final = KeyedRows(columns_of(Event, Event.body), Event.created_at, Event.id)
_SCANNED_AT_ONCE: Final = 50  # one may have some 100 KB


class EventQuery(NamedTuple):
    """Which events, which page; both ends of the time are included."""

    page: int = 1
    per_page: int = 20
    type: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class _StatementFilters(NamedTuple):
    """Which filters a statement has; the values are parameters."""

    dialect: str
    type: bool
    since: bool
    until: bool


def list_events(account_id: str, query: EventQuery) -> tuple[list[Fragment], int]:
    """The events of one page as they were sent, the newest first, and how many there are on all
    pages."""
    filters = _StatementFilters(
        engine().dialect.name, bool(query.type), bool(query.since), bool(query.until)
    )
    values: dict[str, Any] = {"account_id": account_id}
    values |= {"type": query.type} if query.type else {}
    for name, moment in (("since", query.since), ("until", query.until)):
        if moment is not None:
            values[name] = clock.parse_time(clock.format_time(moment))
    total = int(_count(filters).scalar(**values))
    rows = page_rows(
        query.page,
        query.per_page,
        total,
        lambda wanted: _page(filters, wanted.backwards),
        values,
    )
    return [Fragment(body) for (body,) in rows], total


def scan_events(read: Reader, account_id: str) -> Iterator[list[Fragment]]:
    """Yield all events as they were sent, the oldest first, in batches."""
    for rows in _SCANNED.batches(read, _SCANNED_AT_ONCE, account_id=account_id):
        yield [Fragment(row.body) for row in rows]


@cache
def _count(filters: _StatementFilters) -> CompiledQuery:
    return CompiledQuery(
        _filtered(columns_of(Event).add_columns(func.count().label("total")), filters)
    )


@cache
def _page(filters: _StatementFilters, backwards: bool) -> CompiledQuery:
    keys = _filtered(columns_of(Event, Event.id), filters)
    order = (Event.created_at.expression, Event.id.expression)
    rows = columns_of(Event, Event.body)
    return newest_first(keys, rows, order, filters.dialect, backwards=backwards)


def _filtered(rows: Select[Any], filters: _StatementFilters) -> Select[Any]:
    if filters.type:
        rows = rows.where(Event.type == bindparam("type"))
    if filters.since:
        rows = rows.where(Event.created_at >= bindparam("since"))
    return rows.where(Event.created_at <= bindparam("until")) if filters.until else rows
