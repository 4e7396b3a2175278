"""The box around the rows of an account, and the times between which they changed last."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from sqlalchemy import func

from app.auth.tenant import columns_of
from app.db.column_types import RawTimestamp
from app.db.queries import CompiledQuery
from app.geometry import Bounds, wrapped
from app.lists.query import SearchedTable
from app.lists.statements import limited_to_projects, project_limit


class Extent(NamedTuple):
    """``bounds`` is None if no row has a geometry, and ``times`` if there are no rows."""

    bounds: Bounds | None
    times: tuple[str, str] | None


def read_extent(
    table: SearchedTable, account_id: str, within: Sequence[str] | None = None
) -> Extent:
    """The extent of an account's rows, or of those in some projects. Boxes across the antimeridian
    make it the whole circle."""
    dialect, limit = project_limit(within)
    rows = _query(table, dialect).tuples(account_id=account_id, **limit)
    west, south, east, north, first, last = rows[0]
    bounds = None if west is None else wrapped(Bounds(west, south, east, north))
    return Extent(bounds, None if first is None else (first, last))


@cache
def _query(table: SearchedTable, dialect: str | None) -> CompiledQuery:
    columns = table.table.c
    west, south, east, north = (columns[side] for side in table.sides)
    bounds = (func.min(west), func.min(south), func.max(east), func.max(north))
    times = (func.min(columns.updated_at), func.max(columns.updated_at))
    found = columns_of(table.model).add_columns(
        *(bound.label(name) for name, bound in zip("wsen", bounds, strict=True)),
        *(RawTimestamp(t).label(name) for name, t in zip(("first", "last"), times, strict=True)),
    )
    return CompiledQuery(limited_to_projects(found, table, dialect))
