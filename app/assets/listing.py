"""Lists of the assets of a project: filtered and searched from an index, the newest first."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, cast

from sqlalchemy import Select, Table, bindparam, func, select

from app.assets.record import COLUMNS, row_record
from app.auth.tenant import columns_of
from app.core.finding import box_values, contains_text, is_short, overlaps_box, text_values
from app.core.geometry import Bounds
from app.core.reading import Prepared, engine
from app.models import Asset

_TABLE = cast("Table", Asset.__table__)


class AssetQuery(NamedTuple):
    """Which assets, which page."""

    page: int = 1
    per_page: int = 20
    type: str | None = None
    status: str | None = None
    search: str | None = None
    bbox: Bounds | None = None


class _Filters(NamedTuple):
    """Which filters a statement has; their values are parameters."""

    dialect: str
    type: bool
    status: bool
    search: bool
    short: bool
    bbox: bool


def list_assets(
    account_id: str, project_id: str, query: AssetQuery
) -> tuple[list[dict[str, Any]], int]:
    """The records of one page, and how many assets there are on all pages."""
    dialect = engine().dialect.name
    search = query.search or ""
    filters = _Filters(
        dialect, bool(query.type), bool(query.status), bool(search),
        bool(search) and is_short(search), bool(query.bbox),
    )  # fmt: skip
    values: dict[str, Any] = {"account_id": account_id, "project_id": project_id}
    values |= {"type": query.type} if query.type else {}
    values |= {"status": query.status} if query.status else {}
    values |= text_values(search, dialect) if search else {}
    values |= box_values(query.bbox) if query.bbox else {}
    total = int(_count(filters).scalar(**values))
    skipped = (query.page - 1) * query.per_page
    rows = _page(filters).tuples(**values, size=query.per_page, skipped=skipped)
    return list(map(row_record, rows)), total


@cache
def _count(filters: _Filters) -> Prepared:
    return Prepared(select(func.count().label("total")).select_from(_matching(filters).subquery()))


@cache
def _page(filters: _Filters) -> Prepared:
    return Prepared(
        _matching(filters)
        .order_by(_TABLE.c.created_at.desc(), _TABLE.c.id.desc())
        .limit(bindparam("size"))
        .offset(bindparam("skipped"))
    )


def _matching(filters: _Filters) -> Select[Any]:
    statement = columns_of(Asset, *COLUMNS).where(_TABLE.c.project_id == bindparam("project_id"))
    if filters.type:
        statement = statement.where(_TABLE.c.type == bindparam("type"))
    if filters.status:
        statement = statement.where(_TABLE.c.status == bindparam("status"))
    if filters.search:
        statement = statement.where(contains_text(_TABLE, filters.dialect, short=filters.short))
    if filters.bbox:
        sides = ("longitude", "latitude", "longitude", "latitude")
        statement = statement.where(overlaps_box(_TABLE, filters.dialect, *sides))
    return statement
