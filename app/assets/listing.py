"""Lists of the assets of a project: filtered and searched from an index, the newest first."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, Select, Table, and_, bindparam, func, select

from app.assets.record import COLUMNS, row_record
from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.paging import span
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
    page_of,
    text_values,
)
from app.geometry import Bounds
from app.models import Asset

_TABLE = cast("Table", Asset.__table__)
_SIDES = ("longitude", "latitude", "longitude", "latitude")
# What a page's rows are looked up by: of unique columns the one that costs least.
_KEYS = {"sqlite": Asset.row, "postgresql": Asset.id}


class AssetQuery(NamedTuple):
    """Which assets, which page."""

    page: int = 1
    per_page: int = 20
    type: str | None = None
    status: str | None = None
    search: str | None = None
    bbox: Bounds | None = None


class _Filters(NamedTuple):
    """Which filters a statement has, and what finds the rows; the values are parameters."""

    dialect: str
    type: bool
    status: bool
    search: bool
    bbox: bool
    lead: Lead


def list_assets(
    account_id: str, project_id: str, query: AssetQuery
) -> tuple[list[dict[str, Any]], int]:
    """The records of one page, and how many assets there are on all pages."""
    filters = _filters(query)
    values = _values(account_id, project_id, query, filters.dialect)
    total = int(_count(filters).scalar(**values))
    wanted = span(query.page, query.per_page, total)
    if wanted is None:
        return [], total
    page = _page(filters, wanted.backwards)
    rows = page.tuples(**values, size=wanted.size, skipped=wanted.skipped)
    return list(map(row_record, rows)), total


def _filters(query: AssetQuery) -> _Filters:
    return _Filters(
        engine().dialect.name,
        bool(query.type),
        bool(query.status),
        bool(query.search),
        bool(query.bbox),
        lead(query.search, query.bbox),
    )


def _values(account_id: str, project_id: str, query: AssetQuery, dialect: str) -> dict[str, Any]:
    values: dict[str, Any] = {"account_id": account_id, "project_id": project_id}
    values |= {"type": query.type} if query.type else {}
    values |= {"status": query.status} if query.status else {}
    values |= text_values(query.search, project_id, dialect) if query.search else {}
    values |= box_values(query.bbox, project_id, dialect) if query.bbox else {}
    return values


@cache
def _count(filters: _Filters) -> CompiledQuery:
    keys, _ = _keys(filters)
    return CompiledQuery(select(func.count().label("total")).select_from(keys.subquery()))


@cache
def _page(filters: _Filters, backwards: bool) -> CompiledQuery:
    """The rows of a page. Their keys are found first, and only then are they read whole."""
    keys, columns = _keys(filters)
    wanted = page_of(keys.order_by(*_sorted(columns, descending=not backwards)))
    rows = fence(
        [api_column(column) for column in (*COLUMNS, Asset.account_id)],
        among(_KEYS[filters.dialect].expression, wanted, filters.dialect),
    )
    page = columns_among(rows, *(column.key for column in COLUMNS))
    return CompiledQuery(page.order_by(*_sorted(rows.c, descending=True)))


def _keys(filters: _Filters) -> tuple[Select[Any], Any]:
    """The keys of all assets that the filters leave, and what sorts them.

    With search or box they come from the index that finds them, else from the one that has them in
    order.
    """
    key = _KEYS[filters.dialect]
    if not (filters.search or filters.bbox):
        return columns_of(Asset, key).where(*_equal(_TABLE.c, filters)), _TABLE.c
    conditions = [candidates(_TABLE, filters.dialect, filters.lead, "project_id", _SIDES)]
    if filters.lead == "owner":
        conditions += _equal(_TABLE.c, filters)
    names = ("row", "id", "account_id", "project_id", "type", "status", "created_at")
    source = fence(
        [_TABLE.c[name] for name in names],
        and_(*conditions, *_tests(filters)),
        *as_stored(_TABLE, filters.dialect, filters.lead),
    )
    return columns_among(source, key.key).where(*_equal(source.c, filters)), source.c


def _equal(columns: Any, filters: _Filters) -> list[ColumnElement[bool]]:
    names = [name for name in ("type", "status") if getattr(filters, name)]
    return [columns[name] == bindparam(name) for name in ("project_id", *names)]


def _tests(filters: _Filters) -> list[ColumnElement[bool]]:
    asked = {"search": filters.search, "bbox": filters.bbox}
    return exact_tests(_TABLE, filters.dialect, _SIDES, **asked)


def _sorted(columns: Any, *, descending: bool) -> list[Any]:
    both = columns.created_at, columns.id
    return [column.desc() if descending else column.asc() for column in both]
