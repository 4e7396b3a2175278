"""The shapes of projects, each within what one map may read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final

from sqlalchemy import bindparam

from app.api.expensive import answer_in_turn
from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import fence, id_values, is_among_ids
from app.geometry.shapes import is_shown_whole, map_shapes
from app.models import BoundaryShape, Project
from app.policy.bounds import EXPENSIVE_PAGE_BYTES, MAP_BYTES, MAP_WAITING_BYTES

_GROUP: Final = 200  # rows of a query, the largest first
_AT_ONCE: Final = 50  # shapes in memory besides those that are shown


def read_shapes(account_id: str, rows: Sequence[Any], level: int | None) -> dict[int, str]:
    """The shapes of projects, by the numbers of their rows; GeoJSON geometries. Those for which
    there is no room are missing, the smallest first.

    Args:
        rows: those of ``find_largest`` that have a shape at this level.

    Raises:
        ServiceUnavailable: they are large, and too many others are before this request.
    """
    whole = [row for row in rows if is_shown_whole(row.stored_bytes, level)]
    others = [row for row in rows if not is_shown_whole(row.stored_bytes, level)]
    shapes, left = dict[int, str](), MAP_BYTES
    for number, text in _stored(account_id, others, level):
        left -= len(text)
        if left < 0:
            answer_in_turn()
            return shapes
        shapes[number] = text
    missing = _within(MAP_WAITING_BYTES, [row for row in others if row.row not in shapes])
    made = _made(_boundaries(account_id, missing), level)
    for number in [row.row for row in missing if row.row in made]:
        left -= len(made[number])
        if left >= 0:
            shapes[number] = made[number]
    fitting = _within(left, whole)
    if MAP_BYTES - left + sum(row.stored_bytes for row in fitting) > EXPENSIVE_PAGE_BYTES:
        answer_in_turn()
    return shapes | _boundaries(account_id, fitting)


def _made(boundaries: dict[int, str], level: int | None) -> dict[int, str]:
    """The shapes of boundaries that have none stored; a boundary itself if it is shown whole."""
    if level is None:
        return boundaries
    whole = {row: text for row, text in boundaries.items() if is_shown_whole(len(text), level)}
    others = {row: text for row, text in boundaries.items() if row not in whole}
    made = zip(others, map_shapes(list(others.values()), level), strict=True)
    return whole | {row: shapes[level] for row, shapes in made if level in shapes}


def _within(most: int, rows: Sequence[Any]) -> list[Any]:
    """The first rows, without those whose boundaries do not fit into ``most`` bytes."""
    fitting = []
    for row in rows:
        if row.stored_bytes <= most:
            fitting.append(row)
            most -= row.stored_bytes
    return fitting


def _stored(account_id: str, rows: Sequence[Any], level: int | None) -> Iterator[tuple[int, str]]:
    """The stored shapes of projects that are up to date."""
    areas = {row.row: row.area_m2 for row in rows}
    for found in _in_groups(account_id, BoundaryShape, rows, level=level):
        number, area, text = found
        if areas[number] == area:
            yield number, text


def _boundaries(account_id: str, rows: Sequence[Any]) -> dict[int, str]:
    return {number: text for number, text in _in_groups(account_id, Project, rows) if text}


def _in_groups(
    account_id: str, model: Any, rows: Sequence[Any], **values: Any
) -> Iterator[tuple[Any, ...]]:
    """Yield the geometries that a table has of some projects, read in groups."""
    dialect = reading_engine().dialect.name
    for start in range(0, len(rows), _GROUP):
        group = id_values([row.row for row in rows[start : start + _GROUP]], dialect)
        query = _shapes_of(dialect) if model is BoundaryShape else _boundaries_of(dialect)
        found = query.stream(_AT_ONCE, account_id=account_id, ids=group, **values)
        yield from chain.from_iterable(found)


@cache
def _shapes_of(dialect: str) -> CompiledQuery:
    """Read the row of the project, the area and the shape."""
    columns = (BoundaryShape.project_row, BoundaryShape.area_m2, BoundaryShape.geometry)
    own = columns_of(BoundaryShape, *columns).where(
        is_among_ids(BoundaryShape.project_row.expression, dialect),
        BoundaryShape.level == bindparam("level"),
    )
    largest_first = (BoundaryShape.area_m2.desc(), BoundaryShape.project_row.desc())
    return CompiledQuery(own.order_by(*largest_first))


@cache
def _boundaries_of(dialect: str) -> CompiledQuery:
    """Read the row of the project and its boundary. Found by the row alone: with the account beside
    it, SQLite would look through all that the account has."""
    columns = (Project.account_id, Project.id, Project.row, Project.geometry)
    read = [api_column(each) for each in columns]
    found = fence(read, is_among_ids(Project.row.expression, dialect))
    return CompiledQuery(columns_among(found, "row", "geometry"))
