"""Boxes that contain everything that has a place, such as the whole map of an account."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from sqlalchemy import bindparam

from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import box_values, named_beside_box
from app.geometry import WORLD, Bounds
from app.lists.query import SearchedTable

_TURN: Final = 360.0


def holds_all(
    table: SearchedTable, account_id: str, box: Bounds, project_id: str | None = None
) -> bool:
    """True if a box certainly contains everything that has a place in an account or a project.

    The index of boxes finds what lies outside the box, without reading the rows in it.
    """
    if box.east - box.west >= _TURN:
        if box.south <= WORLD.south and box.north >= WORLD.north:
            return True
        box = box._replace(west=-_TURN * 2, east=_TURN * 2)
    owner_id, dialect = project_id or account_id, reading_engine().dialect.name
    values: dict[str, Any] = {"account_id": account_id, table.owner: owner_id}
    values |= box_values(box, owner_id, dialect)
    return not _select_beside(table, dialect).tuples(**values, size=1)


@cache
def _select_beside(table: SearchedTable, dialect: str) -> CompiledQuery:
    named = named_beside_box(table.table, dialect, table.owner, table.sides)
    return CompiledQuery(named.limit(bindparam("size")))
