"""The largest projects in a box, and how many there are.

If few projects are near a box, the index of boxes finds them, and they are sorted. If many are, the
index of areas is read from its end until enough lie in the box.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, and_, bindparam, func, select

from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import (
    box_values,
    fenced_rows,
    indexed_candidates,
    key_among,
    overlaps_box,
    page_of,
)
from app.lists import totals
from app.lists.extents import holds_all
from app.lists.query import ListQuery
from app.lists.statements import count_named, count_query, list_statement, page_query, sorted_by
from app.models import Project
from app.policy.request_limits import MAP_FEATURES, MAP_NEAR, MAP_SEARCHED
from app.projects.listing import TABLE, located_total

_SHOWN: Final = (
    Project.row, Project.id, Project.name, Project.status, Project.area_m2, Project.stored_bytes,
    Project.west, Project.south, Project.east, Project.north,
)  # fmt: skip
_NAMES: Final = tuple(column.key for column in _SHOWN)


class Largest(NamedTuple):
    """The largest projects.

    Attributes:
        rows: row, id, name, status, area_m2, stored_bytes and the sides of the box, largest first.
        matched: the number of all matching projects.
    """

    rows: list[Any]
    matched: int


def find_largest(account_id: str, query: ListQuery) -> Largest:
    """The MAP_FEATURES largest projects with a boundary that match the filters of a query."""
    if query.conditions - {"status", "bbox"}:
        return _find_in_list(account_id, query)
    dialect = reading_engine().dialect.name
    values: dict[str, Any] = {"account_id": account_id, "most": MAP_FEATURES, **query.filters}
    values |= {"size": MAP_SEARCHED, "skipped": 0}
    has_status = "status" in query.filters
    if query.bbox is None or holds_all(TABLE, account_id, query.bbox):
        rows = _in_order(dialect, has_status, has_box=False).all(**values | {"size": MAP_FEATURES})
        return Largest(rows, located_total(account_id, query.filters.get("status")))
    values |= box_values(query.bbox, account_id, dialect)
    near = count_named(TABLE, dialect, "box").scalar(**values | {"most": MAP_NEAR + 1})
    if near > MAP_NEAR:
        rows = _in_order(dialect, has_status, has_box=True).all(**values)
        return Largest(rows, int(_count_in_order(dialect, has_status).scalar(**values)))
    rows = _by_box(dialect, has_status).all(**values)
    return Largest(rows, rows[0].matched if rows else 0)


def _find_in_list(account_id: str, query: ListQuery) -> Largest:
    """The MAP_FEATURES largest projects in a list with any filters."""
    if query.filters.get("has_geometry") is False:
        return Largest([], 0)
    filters = {**query.filters, "has_geometry": True}
    query = query._replace(filters=filters, sort="area_hectares", order="desc")
    statement = list_statement(TABLE, query)
    values = statement.values(account_id, account_id, query)
    page = page_query(statement, _SHOWN, in_order=False)
    rows = page.all(**values, size=MAP_FEATURES, skipped=0)
    if len(rows) < MAP_FEATURES:
        return Largest(rows, len(rows))
    return Largest(rows, totals.count_total(count_query(statement), values))


@cache
def _by_box(dialect: str, has_status: bool) -> CompiledQuery:
    """Read the projects that the index of boxes finds, sorted by area, each row with their
    number."""
    table = TABLE.table
    near = indexed_candidates(table, dialect, "box", TABLE.owner, TABLE.sides)
    read = [table.c.account_id, *map(api_column, _SHOWN)]
    in_box = fenced_rows(
        read, and_(near, overlaps_box(table, TABLE.sides), table.c.area_m2.is_not(None))
    )
    rows = _with_status(columns_among(in_box, *_NAMES), in_box.c, has_status)
    rows = rows.add_columns(func.count().over().label("matched"))
    return CompiledQuery(_largest_first(rows, in_box.c).limit(bindparam("most")))


@cache
def _in_order(dialect: str, has_status: bool, has_box: bool) -> CompiledQuery:
    """Read the last projects in the index of areas."""
    table, key = TABLE.table, TABLE.key(dialect)
    if has_box:
        keys, columns = _largest_keys(dialect, has_status)
        keys = _largest_first(keys, columns).limit(bindparam("most"))
    else:
        columns_read = dict.fromkeys((Project.account_id, key, Project.area_m2, Project.id))
        first = columns_of(Project, *columns_read).where(Project.area_m2.is_not(None))
        first = _largest_first(_with_status(first, Project, has_status), table.c)
        keys = columns_among(page_of(first).subquery("first"), key.key, is_kept=True)
    read = [table.c.account_id, *map(api_column, _SHOWN)]
    named = fenced_rows(read, key_among(key.expression, keys))
    rows = columns_among(named, *_NAMES, is_kept=True)
    return CompiledQuery(_largest_first(rows, named.c))


@cache
def _count_in_order(dialect: str, has_status: bool) -> CompiledQuery:
    """Count the projects in the box among the MAP_SEARCHED largest."""
    keys, _ = _largest_keys(dialect, has_status)
    return CompiledQuery(select(func.count().label("total")).select_from(keys.subquery()))


def _largest_keys(dialect: str, has_status: bool) -> tuple[Select[Any], Any]:
    """Return (select of the keys of those MAP_SEARCHED largest projects that lie in the box, from
    the index of areas alone, sort columns)."""
    sides = [TABLE.attribute(name) for name in TABLE.sides]
    key = TABLE.key(dialect)
    columns_read = dict.fromkeys(
        (Project.account_id, key, Project.area_m2, Project.id, Project.status)
    )
    first = columns_of(Project, *columns_read, *sides).where(Project.area_m2.is_not(None))
    largest = page_of(_largest_first(first, TABLE.table.c)).subquery("first")
    keys = _with_status(columns_among(largest, key.key, is_kept=True), largest.c, has_status)
    return keys.where(overlaps_box(largest, TABLE.sides)), largest.c


def _with_status(rows: Select[Any], columns: Any, has_status: bool) -> Select[Any]:
    return rows.where(columns.status == bindparam("status")) if has_status else rows


def _largest_first(rows: Select[Any], columns: Any) -> Select[Any]:
    return rows.order_by(*sorted_by(TABLE, columns, "area_m2", descending=True))
