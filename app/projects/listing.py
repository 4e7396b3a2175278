"""Lists of projects: filtered, searched and sorted from an index, paged without overlap."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from sqlalchemy import Select, Table, func, select

from app.auth.tenant import columns_of
from app.core.database import reader
from app.core.finding import contains_text, overlaps_box
from app.core.geometry import Bounds
from app.core.tables import shown
from app.models import Project
from app.projects.record import COLUMNS, project_record
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


def list_projects(account_id: str, query: ProjectQuery) -> tuple[list[dict[str, Any]], int]:
    """The records of one page, and how many projects there are on all pages.

    The page is found on the index alone, and only its rows are read whole.
    """
    matching = _matching(account_id, query)
    total = _total(account_id, query, matching)
    offset = (query.page - 1) * query.per_page
    if offset >= total:
        return [], total
    keys = _page(matching, query, total, offset).subquery()
    statement = (
        select(*(shown(column) for column in COLUMNS))
        .join(keys, keys.c.row == _TABLE.c.row)
        .where(_TABLE.c.account_id == account_id)
        .order_by(*_order(query, backwards=False))
    )
    rows = reader().execute(statement, {"account_id": account_id})
    return [project_record(row) for row in rows], total


def _matching(account_id: str, query: ProjectQuery) -> Select[Any]:
    """The row numbers of all projects that the filters leave."""
    dialect = reader().dialect.name
    statement = columns_of(Project, Project.row)
    if query.status is not None:
        statement = statement.where(_TABLE.c.status == query.status)
    if query.search:
        statement = statement.where(contains_text(_TABLE, account_id, query.search, dialect))
    if query.bbox is not None:
        box = overlaps_box(_TABLE, query.bbox, dialect, "west", "south", "east", "north")
        statement = statement.where(box)
    return statement


def _total(account_id: str, query: ProjectQuery, matching: Select[Any]) -> int:
    """From the account's counters where nothing but the status filters; else counted."""
    if not query.search and query.bbox is None:
        row = counters(account_id)
        by_status = {
            "active": row.projects_active,
            "archived": row.projects_archived,
            "draft": row.projects_draft,
        }
        return by_status[query.status] if query.status else sum(by_status.values())
    counted = select(func.count()).select_from(matching.subquery())
    return int(reader().execute(counted, {"account_id": account_id}).scalar_one())


def _page(matching: Select[Any], query: ProjectQuery, total: int, offset: int) -> Select[Any]:
    """The row numbers of the page. A page of the second half is counted from the end."""
    size = min(query.per_page, total - offset)
    rest = total - offset - size
    if rest < offset:
        return matching.order_by(*_order(query, backwards=True)).limit(size).offset(rest)
    return matching.order_by(*_order(query, backwards=False)).limit(size).offset(offset)


def _order(query: ProjectQuery, *, backwards: bool) -> list[Any]:
    """By the sort and then by id. A project without an area counts as the smallest."""
    descending = (query.order or ("desc" if query.sort == "created_at" else "asc")) == "desc"
    column = _SORTS[query.sort]
    if descending != backwards:
        return [column.desc().nulls_last(), _TABLE.c.id.desc()]
    return [column.asc().nulls_first(), _TABLE.c.id.asc()]
