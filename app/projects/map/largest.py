"""The largest projects in a box, and how many there are.

If few projects are near a box, the index of boxes names them, and they are sorted. If many are, the
index that has the areas in order is read from its end until enough lie in the box.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, and_, bindparam, func, select

from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import among, box_values, candidates, fence, overlaps_box, page_of
from app.geometry import Bounds
from app.lists import totals
from app.lists.extents import holds_all
from app.lists.query import ListQuery
from app.lists.statements import count_named, count_query, list_statement, page_query, sorted_by
from app.models import Project
from app.policy.bounds import MAP_FEATURES, MAP_NEAR, MAP_SEARCHED
from app.projects.listing import TABLE, located_total

_SHOWN: Final = (
    Project.row, Project.id, Project.name, Project.status, Project.area_m2, Project.stored_bytes,
    Project.west, Project.south, Project.east, Project.north,
)  # fmt: skip
_NAMES: Final = tuple(column.key for column in _SHOWN)


class Wanted(NamedTuple):
    """The projects of a map. None: everywhere, of any status, with any text, all of them.
    ``metadata``: values by the keys of the metadata."""

    bbox: Bounds | None = None
    status: str | None = None
    search: str | None = None
    metadata: Mapping[str, str] = {}
    within: tuple[str, ...] | None = None


class Largest(NamedTuple):
    """``rows``: row, id, name, status, area_m2, stored_bytes and the box of each, the largest
    first. ``matched`` counts those that are not among them, too."""

    rows: list[Any]
    matched: int


def find_largest(account_id: str, wanted: Wanted) -> Largest:
    """The MAP_FEATURES largest of the projects that are wanted and have a boundary."""
    if wanted.search or wanted.metadata or wanted.within is not None:
        return _find_in_list(account_id, wanted)
    dialect = reading_engine().dialect.name
    values: dict[str, Any] = {"account_id": account_id, "most": MAP_FEATURES}
    values |= {"size": MAP_SEARCHED, "skipped": 0}
    if wanted.status:
        values["status"] = wanted.status
    has_status = bool(wanted.status)
    if wanted.bbox is None or holds_all(TABLE, account_id, wanted.bbox):
        rows = _in_order(dialect, has_status, has_box=False).all(**values | {"size": MAP_FEATURES})
        return Largest(rows, located_total(account_id, wanted.status))
    values |= box_values(wanted.bbox, account_id, dialect)
    near = count_named(TABLE, dialect, "box").scalar(**values | {"most": MAP_NEAR + 1})
    if near > MAP_NEAR:
        rows = _in_order(dialect, has_status, has_box=True).all(**values)
        return Largest(rows, int(_count_in_order(dialect, has_status).scalar(**values)))
    rows = _by_box(dialect, has_status).all(**values)
    return Largest(rows, rows[0].matched if rows else 0)


def _find_in_list(account_id: str, wanted: Wanted) -> Largest:
    """The MAP_FEATURES largest of the projects that a list finds by text, by metadata or by id."""
    equal = {"status": wanted.status} if wanted.status else {}
    query = ListQuery(
        search=wanted.search, bbox=wanted.bbox, equal=equal, metadata=wanted.metadata,
        within=wanted.within, sort="area_hectares", order="desc",
    )  # fmt: skip
    statement = list_statement(TABLE, query)
    values = statement.values(account_id, account_id, query)
    page = page_query(statement, _SHOWN, in_order=False)
    rows = page.all(**values, size=MAP_FEATURES, skipped=0)
    drawn = [row for row in rows if row.area_m2 is not None]
    if len(rows) < MAP_FEATURES:
        return Largest(drawn, len(drawn))
    return Largest(drawn, totals.count(count_query(statement), values))


@cache
def _by_box(dialect: str, has_status: bool) -> CompiledQuery:
    """Read the projects that the index of boxes names, sorted by area; each row has the number of
    all."""
    table = TABLE.table
    near = candidates(table, dialect, "box", TABLE.owner, TABLE.sides)
    read = [table.c.account_id, *map(api_column, _SHOWN)]
    found = fence(read, and_(near, overlaps_box(table, TABLE.sides), table.c.area_m2.is_not(None)))
    rows = _status(columns_among(found, *_NAMES), found.c, has_status)
    rows = rows.add_columns(func.count().over().label("matched"))
    return CompiledQuery(_largest_first(rows, found.c).limit(bindparam("most")))


@cache
def _in_order(dialect: str, has_status: bool, has_box: bool) -> CompiledQuery:
    """Read the projects that the index of areas has last."""
    table, key = TABLE.table, TABLE.key(dialect)
    if has_box:
        keys, columns = _searched(dialect, has_status)
        keys = _largest_first(keys, columns).limit(bindparam("most"))
    else:
        shown = dict.fromkeys((Project.account_id, key, Project.area_m2, Project.id))
        first = columns_of(Project, *shown).where(Project.area_m2.is_not(None))
        first = _largest_first(_status(first, Project, has_status), table.c)
        keys = columns_among(page_of(first).subquery("first"), key.key, is_kept=True)
    read = [table.c.account_id, *map(api_column, _SHOWN)]
    found = fence(read, among(key.expression, keys, dialect))
    rows = columns_among(found, *_NAMES, is_kept=True)
    return CompiledQuery(_largest_first(rows, found.c))


@cache
def _count_in_order(dialect: str, has_status: bool) -> CompiledQuery:
    """Count the projects in the box among the MAP_SEARCHED largest."""
    keys, _ = _searched(dialect, has_status)
    return CompiledQuery(select(func.count().label("total")).select_from(keys.subquery()))


def _searched(dialect: str, has_status: bool) -> tuple[Select[Any], Any]:
    """Return (select of the keys of the MAP_SEARCHED largest projects that lie in the box, from the
    index of areas alone, sort columns)."""
    sides = [TABLE.attribute(name) for name in TABLE.sides]
    key = TABLE.key(dialect)
    shown = dict.fromkeys((Project.account_id, key, Project.area_m2, Project.id, Project.status))
    first = columns_of(Project, *shown, *sides).where(Project.area_m2.is_not(None))
    found = page_of(_largest_first(first, TABLE.table.c)).subquery("first")
    keys = _status(columns_among(found, key.key, is_kept=True), found.c, has_status)
    return keys.where(overlaps_box(found, TABLE.sides)), found.c


def _status(rows: Select[Any], columns: Any, has_status: bool) -> Select[Any]:
    return rows.where(columns.status == bindparam("status")) if has_status else rows


def _largest_first(rows: Select[Any], columns: Any) -> Select[Any]:
    return rows.order_by(*sorted_by(TABLE, columns, "area_m2", descending=True))
