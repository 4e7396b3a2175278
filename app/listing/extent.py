"""The box around all rows of an account, and the times between which they changed last."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from sqlalchemy import func

from app.auth.tenant import columns_of
from app.db.column_types import RawTimestamp
from app.db.queries import CompiledQuery
from app.geometry import Bounds, wrapped
from app.listing.query import SearchedTable


class Extent(NamedTuple):
    """``bounds`` is None if no row has a geometry, and ``times`` if there are no rows."""

    bounds: Bounds | None
    times: tuple[str, str] | None


def read_extent(table: SearchedTable, account_id: str) -> Extent:
    """The extent of an account's rows. Boxes across the antimeridian make it the whole circle."""
    west, south, east, north, first, last = _query(table).tuples(account_id=account_id)[0]
    bounds = None if west is None else wrapped(Bounds(west, south, east, north))
    return Extent(bounds, None if first is None else (first, last))


@cache
def _query(table: SearchedTable) -> CompiledQuery:
    columns = table.table.c
    west, south, east, north = (columns[side] for side in table.sides)
    bounds = (func.min(west), func.min(south), func.max(east), func.max(north))
    times = (func.min(columns.updated_at), func.max(columns.updated_at))
    return CompiledQuery(
        columns_of(table.model).add_columns(
            *(bound.label(name) for name, bound in zip("wsen", bounds, strict=True)),
            *(
                RawTimestamp(t).label(name)
                for name, t in zip(("first", "last"), times, strict=True)
            ),
        )
    )
