"""Logs: tables with new rows at the end and deletions at the beginning, listed by id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select

from app.db.queries import CompiledQuery
from app.db.search_index import page_of

LOOKED_THROUGH: Final = 100_000  # entries, for one page
_YEARS: Final = (datetime(1970, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))


class Log(NamedTuple):
    """The parts of a log's statements.

    Args:
        kind: the kind of its ids.
        key: the column of the ids.
        own: the parameters for the owner of the log.
        filtered: selects an expression from the rows that meet the conditions with these
            parameters. ``since_id`` and ``until_id`` are the ends of the time, and ``lowest_id``
            is the end of a search.
    """

    kind: str
    key: ColumnElement[Any]
    own: tuple[str, ...]
    filtered: Callable[[ColumnElement[Any], frozenset[str]], Select[Any]]


class LatestRows(NamedTuple):
    """The rows of a page, the id first.

    Attributes:
        before: the next page begins before this id; None at the end of the log.
        is_cut: the search ended early, so that the page may have fewer rows than exist.
    """

    rows: list[tuple[Any, ...]]
    before: str | None
    is_cut: bool


def latest_rows(
    log: Log,
    values: dict[str, Any],
    size: int,
    statement: Callable[[frozenset[str]], CompiledQuery],
    *,
    tested: Sequence[str],
) -> LatestRows:
    """The newest rows that meet the conditions: a page of a log for people.

    Nothing is counted or skipped, so a page of a long log is as fast as one of a short log. A rare
    filter searches LOOKED_THROUGH entries at a time.

    Args:
        values: the parameters of ``log.filtered``; with ``before``, all rows are older than that.
        size: rows of the page.
        statement: reads the rows of a page, by the names of the parameters.
        tested: the conditions without an index in this order, which are tested on each entry.
    """
    lowest_id = _lowest_id(log, values, tested) if any(name in values for name in tested) else None
    if lowest_id is not None:
        values = values | {"lowest_id": max(lowest_id, values.get("since_id", lowest_id))}
    rows = statement(frozenset(values)).tuples(**values, size=size + 1, skipped=0)
    if len(rows) > size:
        return LatestRows(rows[:size], rows[size - 1][0], False)
    is_cut = lowest_id is not None and lowest_id == values["lowest_id"]
    return LatestRows(rows, lowest_id if is_cut else None, is_cut)


def shifted_time(time: datetime, by: timedelta = timedelta()) -> datetime:
    """A time earlier or later, within the years that ids can have."""
    first, last = _YEARS
    return min(max(time, first), last) + by


def _lowest_id(log: Log, values: dict[str, Any], tested: Sequence[str]) -> str | None:
    """The id of the last entry to search; None if there are fewer."""
    untested = {name: value for name, value in values.items() if name not in tested}
    statement = _ids_query(log, frozenset(untested) - {"since", "since_id"})
    rows = statement.tuples(**untested, size=1, skipped=LOOKED_THROUGH)
    return rows[0][0] if rows else None


@cache
def _ids_query(log: Log, filters: frozenset[str]) -> CompiledQuery:
    return CompiledQuery(page_of(log.filtered(log.key, filters).order_by(log.key.desc())))
