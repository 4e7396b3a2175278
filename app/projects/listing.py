"""Lists of projects: filtered, searched and sorted from an index, paged without overlap."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, cast

from sqlalchemy import Select, Table, bindparam, func, select

from app.auth.tenant import columns_of
from app.core.finding import box_values, contains_text, is_short, overlaps_box, text_values
from app.core.geometry import Bounds
from app.core.reading import Prepared, engine
from app.core.tables import shown
from app.models import Project
from app.projects.record import COLUMNS, row_record
from app.usage.service import counters

_TABLE = cast("Table", Project.__table__)
_SORTS = {
    "name": _TABLE.c.name_key,
    "created_at": _TABLE.c.created_at,
    "area_hectares": _TABLE.c.area_m2,
}


class ProjectQuery(NamedTuple):
    """Which projects, in which order, which page."""

    page: int = 1
    per_page: int = 20
    status: str | None = None
    search: str | None = None
    sort: str = "created_at"
    order: str | None = None  # None: newest first, and else ascending
    bbox: Bounds | None = None

    @property
    def descending(self) -> bool:
        return (self.order or ("desc" if self.sort == "created_at" else "asc")) == "desc"


class _Filters(NamedTuple):
    """Which filters a statement has; their values are parameters."""

    dialect: str
    status: bool
    search: bool
    short: bool
    bbox: bool


def list_projects(account_id: str, query: ProjectQuery) -> tuple[list[dict[str, Any]], int]:
    """The records of one page, and how many projects there are on all pages.

    A page of the second half is counted from the end, so the way to it is never longer than half
    of the list.
    """
    dialect = engine().dialect.name
    short = bool(query.search) and is_short(query.search or "")
    filters = _Filters(dialect, bool(query.status), bool(query.search), short, bool(query.bbox))
    values = _values(account_id, query, dialect)
    total = _total(account_id, query, filters, values)
    offset = (query.page - 1) * query.per_page
    if offset >= total:
        return [], total
    size = min(query.per_page, total - offset)
    rest = total - offset - size
    backwards = rest < offset
    statement = _page(filters, query.sort, query.descending, backwards)
    rows = statement.tuples(**values, size=size, skipped=rest if backwards else offset)
    return list(map(row_record, rows)), total


def _values(account_id: str, query: ProjectQuery, dialect: str) -> dict[str, Any]:
    values: dict[str, Any] = {"account_id": account_id}
    if query.status:
        values["status"] = query.status
    if query.search:
        values |= text_values(query.search, dialect)
    if query.bbox:
        values |= box_values(query.bbox)
    return values


def _total(account_id: str, query: ProjectQuery, filters: _Filters, values: dict[str, Any]) -> int:
    """From the account's counters where nothing but the status filters; else counted."""
    if filters.search or filters.bbox:
        return int(_count(filters).scalar(**values))
    row = counters(account_id)
    if query.status:
        return int(getattr(row, f"projects_{query.status}"))
    return int(row.projects_active + row.projects_archived + row.projects_draft)


@cache
def _count(filters: _Filters) -> Prepared:
    return Prepared(select(func.count().label("total")).select_from(_matching(filters).subquery()))


@cache
def _page(filters: _Filters, sort: str, descending: bool, backwards: bool) -> Prepared:
    """The rows of a page. They are found on the index alone, and only then read whole."""
    found = (
        _matching(filters)
        .order_by(*_order(sort, descending != backwards))
        .limit(bindparam("size"))
        .offset(bindparam("skipped"))
        .subquery()
    )
    return Prepared(
        select(*map(shown, COLUMNS))
        .join(found, found.c.row == _TABLE.c.row)
        .where(_TABLE.c.account_id == bindparam("account_id"))
        .order_by(*_order(sort, descending))
    )


def _matching(filters: _Filters) -> Select[Any]:
    """The row numbers of all projects that the filters leave."""
    statement = columns_of(Project, Project.row)
    if filters.status:
        statement = statement.where(_TABLE.c.status == bindparam("status"))
    if filters.search:
        statement = statement.where(contains_text(_TABLE, filters.dialect, short=filters.short))
    if filters.bbox:
        sides = ("west", "south", "east", "north")
        statement = statement.where(overlaps_box(_TABLE, filters.dialect, *sides))
    return statement


def _order(sort: str, descending: bool) -> list[Any]:
    """By the sort and then by id. A project without an area counts as the smallest."""
    column = _SORTS[sort]
    if descending:
        return [column.desc().nulls_last(), _TABLE.c.id.desc()]
    return [column.asc().nulls_first(), _TABLE.c.id.asc()]
