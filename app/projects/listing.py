"""Lists of projects: filtered, searched and sorted from an index, paged without overlap."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, Select, Table, and_, bindparam, func, select
from sqlalchemy.orm import InstrumentedAttribute

from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.paging import is_among_the_first, is_near, span
from app.db.queries import CompiledQuery, engine
from app.db.search_index import (
    Lead,
    among,
    as_stored,
    box_values,
    candidates,
    exact_tests,
    fence,
    lead,
    named_by_text,
    page_of,
    text_values,
)
from app.geometry import Bounds
from app.models import Project
from app.projects.record import COLUMNS, SUMMARY_COLUMNS, row_record, row_summary
from app.usage.service import counters, project_total

_TABLE = cast("Table", Project.__table__)
_SIDES = ("west", "south", "east", "north")
_SORTS = {"name": "name_key", "created_at": "created_at", "area_hectares": "area_m2"}
_HIDDEN = (Project.account_id, Project.name_key)
# What a page's rows are looked up by: of unique columns the one that costs least.
_KEYS = {"sqlite": Project.row, "postgresql": Project.id}
_ROWS = 2  # rows in memory at once, each with a boundary of up to MAX_BODY_BYTES
_MANY = 2_000  # rows that an index of texts names: to test them takes a few milliseconds


class ProjectQuery(NamedTuple):
    """Which projects, in which order, which page."""

    page: int = 1
    per_page: int = 20
    status: str | None = None
    search: str | None = None
    sort: str = "created_at"
    order: str | None = None  # None: newest first, and else ascending
    bbox: Bounds | None = None
    boundaries: bool = True  # False: summaries, with the box around each boundary in its place

    @property
    def descending(self) -> bool:
        return (self.order or ("desc" if self.sort == "created_at" else "asc")) == "desc"


class _Filters(NamedTuple):
    """Which filters a statement has, and what finds the rows; the values are parameters."""

    dialect: str
    status: bool
    search: bool
    bbox: bool
    lead: Lead


class _Order(NamedTuple):
    """How the rows of a page are sorted, from which end they are counted, and what is read."""

    sort: str
    descending: bool
    backwards: bool
    boundaries: bool


def list_projects(account_id: str, query: ProjectQuery) -> tuple[Iterator[dict[str, Any]], int]:
    """The records of one page, read as they are taken, and how many there are on all pages.

    A page of the second half is counted from the end, so the way to it is never longer than half
    of the list.
    """
    filters = _filters(query)
    values = _values(account_id, query, filters.dialect)
    if filters.lead == "text" and query.bbox and _is_frequent(filters, values):
        filters = filters._replace(lead="box")
    everything = total = _counted(account_id, query.status)
    if filters.search or filters.bbox:
        total = int(_count(filters).scalar(**values))
    wanted = span(query.page, query.per_page, total)
    if wanted is None:
        return iter(()), total
    order = _Order(_SORTS[query.sort], query.descending, wanted.backwards, query.boundaries)
    if not any((filters.status, filters.search, filters.bbox)) and is_among_the_first(wanted):
        statement = _page_at_once(order)
    elif is_near(wanted, total, everything):
        statement = _page_in_order(filters, order)
    else:
        statement = _page_of_found(filters, order)
    chunks = statement.stream(_ROWS, **values, size=wanted.size, skipped=wanted.skipped)
    shape = row_record if query.boundaries else row_summary
    return map(shape, chain.from_iterable(chunks)), total


def _filters(query: ProjectQuery) -> _Filters:
    return _Filters(
        engine().dialect.name,
        bool(query.status),
        bool(query.search),
        bool(query.bbox),
        lead(query.search, query.bbox),
    )


def _values(account_id: str, query: ProjectQuery, dialect: str) -> dict[str, Any]:
    values: dict[str, Any] = {"account_id": account_id}
    if query.status:
        values["status"] = query.status
    if query.search:
        values |= text_values(query.search, account_id, dialect)
    if query.bbox:
        values |= box_values(query.bbox, account_id, dialect)
    return values


def _is_frequent(filters: _Filters, values: dict[str, Any]) -> bool:
    """Whether the index of texts names so many that a box is the better thing to begin with."""
    return int(_count_some(filters.dialect).scalar(**values, most=_MANY)) == _MANY


def _counted(account_id: str, status: str | None) -> int:
    """How many projects the account has, from its counters."""
    row = counters(account_id)
    if status:
        return int(getattr(row, f"projects_{status}"))
    return project_total(row)


@cache
def _count(filters: _Filters) -> CompiledQuery:
    keys, _ = _found(filters)
    return CompiledQuery(select(func.count().label("total")).select_from(keys.subquery()))


@cache
def _count_some(dialect: str) -> CompiledQuery:
    """How many projects the index of texts names, but at most ``most``."""
    some = named_by_text(_TABLE, dialect, "account_id").limit(bindparam("most")).subquery()
    return CompiledQuery(select(func.count().label("total")).select_from(some))


@cache
def _page_of_found(filters: _Filters, order: _Order) -> CompiledQuery:
    """A page of what an index finds, all of which is sorted for it."""
    return _page(*_found(filters), filters, order)


@cache
def _page_in_order(filters: _Filters, order: _Order) -> CompiledQuery:
    """A page of the index that has the order; search and box are tested on the way."""
    keys = columns_of(Project, _KEYS[filters.dialect])
    keys = keys.where(*_equal(_TABLE.c, filters), *_tests(filters))
    return _page(keys, _TABLE.c, filters, order)


@cache
def _page_at_once(order: _Order) -> CompiledQuery:
    """A page of all projects, read whole on the way: the shorter way where few are skipped."""
    page = columns_of(Project, *_columns(order))
    return CompiledQuery(page_of(page.order_by(*_sorted(_TABLE.c, order.sort, order.descending))))


def _page(keys: Select[Any], columns: Any, filters: _Filters, order: _Order) -> CompiledQuery:
    """The rows of a page. Their keys are found first, and only then are they read whole."""
    keys = keys.order_by(*_sorted(columns, order.sort, order.descending != order.backwards))
    rows = fence(
        [api_column(column) for column in (*_columns(order), *_HIDDEN)],
        among(_KEYS[filters.dialect].expression, page_of(keys), filters.dialect),
    )
    page = columns_among(rows, *(column.key for column in _columns(order)))
    return CompiledQuery(page.order_by(*_sorted(rows.c, order.sort, order.descending)))


def _columns(order: _Order) -> tuple[InstrumentedAttribute[Any], ...]:
    return COLUMNS if order.boundaries else SUMMARY_COLUMNS


def _found(filters: _Filters) -> tuple[Select[Any], Any]:
    """The keys of what the filters leave, by an index if one can tell, and what sorts them."""
    conditions = [candidates(_TABLE, filters.dialect, filters.lead, "account_id", _SIDES)]
    if filters.lead == "owner":
        conditions += _equal(_TABLE.c, filters)
    source = fence(
        [_TABLE.c[name] for name in ("row", "id", "account_id", "status", *_SORTS.values())],
        and_(*conditions, *_tests(filters)),
        *as_stored(_TABLE, filters.dialect, filters.lead),
    )
    keys = columns_among(source, _KEYS[filters.dialect].key)
    return keys.where(*_equal(source.c, filters)), source.c


def _equal(columns: Any, filters: _Filters) -> list[ColumnElement[bool]]:
    return [columns.status == bindparam("status")] if filters.status else []


def _tests(filters: _Filters) -> list[ColumnElement[bool]]:
    asked = {"search": filters.search, "bbox": filters.bbox}
    return exact_tests(_TABLE, filters.dialect, _SIDES, **asked)


def _sorted(columns: Any, sort: str, descending: bool) -> list[Any]:
    """By the sort and then by id. A project without an area counts as the smallest.

    The other columns are never null. Where nulls go is not said of them: PostgreSQL would take
    their index for one of another order.
    """
    column, key = columns[sort], columns.id
    first = column.desc() if descending else column.asc()
    if sort == "area_m2":
        first = first.nulls_last() if descending else first.nulls_first()
    return [first, key.desc() if descending else key.asc()]
