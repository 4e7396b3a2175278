"""The largest projects in a box, and how many there are.

Where few projects are near a box, the index of boxes names them, and they are sorted. Where many
are, the index that has the areas in order is read from its end until enough lie in the box.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, and_, bindparam, func, select

from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.queries import CompiledQuery, engine
from app.db.search_index import (
    among,
    box_values,
    candidates,
    fence,
    named_by_box,
    overlaps_box,
    page_of,
)  # fmt: skip
from app.geometry import Bounds
from app.lists.query import ListQuery, StatementFilters, filters_of, parameters
from app.lists.statements import count_statement, keys_found, page_statement, sorted_by
from app.models import Project
from app.policy.bounds import MAP_FEATURES, MAP_NEAR, MAP_SEARCHED
from app.projects.selection import SOURCE
from app.usage.counters import counters, project_total

_TABLE: Final = SOURCE.table
_WORLD: Final = Bounds(-180, -90, 180, 90)
_SHOWN: Final = (
    Project.row, Project.id, Project.name, Project.status, Project.area_m2, Project.stored_bytes,
    Project.west, Project.south, Project.east, Project.north,
)  # fmt: skip
_NAMES: Final = tuple(column.key for column in _SHOWN)


class Wanted(NamedTuple):
    """Which projects a map is of. None: everywhere, of any status, with any text, all of them."""

    bbox: Bounds | None = None
    status: str | None = None
    search: str | None = None
    within: tuple[str, ...] | None = None


class Largest(NamedTuple):
    """``rows``: row, id, name, status, area_m2, stored_bytes and the box of each, the largest
    first. ``matched`` counts those that are not among them, too."""

    rows: list[Any]
    matched: int


def find_largest(account_id: str, wanted: Wanted) -> Largest:
    """The MAP_FEATURES largest of the projects that are wanted and have a boundary."""
    if wanted.search or wanted.within is not None:
        return _find_in_list(account_id, wanted)
    dialect = engine().dialect.name
    values: dict[str, Any] = {"account_id": account_id, "most": MAP_FEATURES}
    values |= {"size": MAP_SEARCHED, "skipped": 0}
    if wanted.status:
        values["status"] = wanted.status
    has_status = bool(wanted.status)
    if wanted.bbox is None or wanted.bbox == _WORLD:
        rows = _in_order(dialect, has_status, has_box=False).all(**values | {"size": MAP_FEATURES})
        return Largest(rows, _total(account_id, wanted.status, values))
    values |= box_values(wanted.bbox, account_id, dialect)
    near = _count_near(dialect).scalar(**values | {"most": MAP_NEAR + 1})
    if near > MAP_NEAR:
        rows = _in_order(dialect, has_status, has_box=True).all(**values)
        return Largest(rows, int(_count_in_order(dialect, has_status).scalar(**values)))
    rows = _by_box(dialect, has_status).all(**values)
    return Largest(rows, rows[0].matched if rows else 0)


def _find_in_list(account_id: str, wanted: Wanted) -> Largest:
    """Likewise of the projects that a list finds, with this text or among these."""
    equal = {"status": wanted.status} if wanted.status else {}
    query = ListQuery(search=wanted.search, bbox=wanted.bbox, equal=equal, within=wanted.within)
    filters = filters_of(_TABLE, query)
    values = parameters(_TABLE, account_id, account_id, query, filters.dialect)
    rows = _found(filters).all(**values, size=MAP_FEATURES, skipped=0)
    drawn = [row for row in rows if row.area_m2 is not None]
    if len(rows) < MAP_FEATURES:
        return Largest(drawn, len(drawn))
    return Largest(drawn, int(count_statement(_TABLE, filters).scalar(**values)))


@cache
def _found(filters: StatementFilters) -> CompiledQuery:
    """What an index names, sorted by area."""
    keys, order = keys_found(_TABLE, filters), ("area_m2", True)
    return page_statement(_TABLE, keys, _SHOWN, filters.dialect, order, backwards=False)


def _total(account_id: str, status: str | None, values: dict[str, Any]) -> int:
    """How many projects have a boundary, from the counters: few have none."""
    counted = counters(account_id)
    total = getattr(counted, f"projects_{status}") if status else project_total(counted)
    return max(0, int(total) - int(_count_nowhere(bool(status)).scalar(**values)))


@cache
def _count_nowhere(has_status: bool) -> CompiledQuery:
    """How many projects have no boundary."""
    nowhere = _status(columns_of(Project), Project, has_status).where(Project.area_m2.is_(None))
    return CompiledQuery(nowhere.add_columns(func.count().label("total")))


@cache
def _count_near(dialect: str) -> CompiledQuery:
    """How many projects the index of boxes names, but at most ``most``."""
    named = named_by_box(_TABLE.table, dialect, "account_id", _TABLE.sides)
    some = named.limit(bindparam("most")).subquery()
    return CompiledQuery(select(func.count().label("total")).select_from(some))


@cache
def _by_box(dialect: str, has_status: bool) -> CompiledQuery:
    """What the index of boxes names, sorted by area; each row with the number of all."""
    table = _TABLE.table
    near = candidates(table, dialect, "box", _TABLE.owner, _TABLE.sides)
    read = [table.c.account_id, *map(api_column, _SHOWN)]
    found = fence(read, and_(near, overlaps_box(table, _TABLE.sides), table.c.area_m2.is_not(None)))
    rows = _status(columns_among(found, *_NAMES), found.c, has_status)
    rows = rows.add_columns(func.count().over().label("matched"))
    return CompiledQuery(_largest_first(rows, found.c).limit(bindparam("most")))


@cache
def _in_order(dialect: str, has_status: bool, has_box: bool) -> CompiledQuery:
    """The rows of the projects that the index of areas has last."""
    table, key = _TABLE.table, _TABLE.key(dialect)
    if has_box:
        keys, columns = _searched(dialect, has_status)
        keys = _largest_first(keys, columns).limit(bindparam("most"))
    else:
        shown = dict.fromkeys((Project.account_id, key, Project.area_m2, Project.id))
        first = columns_of(Project, *shown).where(Project.area_m2.is_not(None))
        first = _largest_first(_status(first, Project, has_status), table.c)
        keys = columns_among(page_of(first).subquery("first"), key.key)
    read = [table.c.account_id, *map(api_column, _SHOWN)]
    found = fence(read, among(key.expression, keys, dialect))
    return CompiledQuery(_largest_first(columns_among(found, *_NAMES), found.c))


@cache
def _count_in_order(dialect: str, has_status: bool) -> CompiledQuery:
    """How many projects lie in the box, of the MAP_SEARCHED largest."""
    keys, _ = _searched(dialect, has_status)
    return CompiledQuery(select(func.count().label("total")).select_from(keys.subquery()))


def _searched(dialect: str, has_status: bool) -> tuple[Select[Any], Any]:
    """The keys of the MAP_SEARCHED largest projects that lie in the box, from the index of areas
    alone, and the columns by which they can be sorted."""
    sides = [_TABLE.attribute(name) for name in _TABLE.sides]
    key = _TABLE.key(dialect)
    shown = dict.fromkeys((Project.account_id, key, Project.area_m2, Project.id, Project.status))
    first = columns_of(Project, *shown, *sides).where(Project.area_m2.is_not(None))
    found = page_of(_largest_first(first, _TABLE.table.c)).subquery("first")
    keys = _status(columns_among(found, key.key), found.c, has_status)
    return keys.where(overlaps_box(found, _TABLE.sides)), found.c


def _status(rows: Select[Any], columns: Any, has_status: bool) -> Select[Any]:
    return rows.where(columns.status == bindparam("status")) if has_status else rows


def _largest_first(rows: Select[Any], columns: Any) -> Select[Any]:
    return rows.order_by(*sorted_by(_TABLE, columns, "area_m2", descending=True))
