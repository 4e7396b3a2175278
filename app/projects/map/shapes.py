"""The shapes of projects, within the limits of one map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

from sqlalchemy import bindparam
from sqlalchemy.orm import InstrumentedAttribute

from app.api.expensive import answer_in_turn
from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.queries import CompiledQuery
from app.db.search_index import fenced_rows, is_among_ids
from app.geometry.shapes import is_shown_whole, map_shapes
from app.models import BoundaryShape, Project
from app.policy.request_limits import EXPENSIVE_PAGE_BYTES, MAP_BYTES, MAP_WAITING_BYTES

_GROUP: Final = 200  # rows of a query, the largest first
_AT_ONCE: Final = 50  # rows of a stream


def read_shapes(account_id: str, rows: Sequence[Any], level: int | None) -> dict[int, str]:
    """The shapes of projects as GeoJSON geometries, by ``row``. The smallest are missing if there
    is no room for all.

    Args:
        rows: rows of ``find_largest`` with a shape at this level.

    Raises:
        ServiceUnavailable: they are large, and too many requests are waiting.
    """
    whole = [row for row in rows if is_shown_whole(row.stored_bytes, level)]
    simplified = [row for row in rows if not is_shown_whole(row.stored_bytes, level)]
    shapes, bytes_left = dict[int, str](), MAP_BYTES
    for number, text in _stored_shapes(account_id, simplified, level):
        bytes_left -= len(text)
        if bytes_left < 0:
            answer_in_turn()
            return shapes
        shapes[number] = text
    missing = _first_within(MAP_WAITING_BYTES, [row for row in simplified if row.row not in shapes])
    new_shapes = _simplify_boundaries(_boundary_texts(account_id, missing), level)
    for number in [row.row for row in missing if row.row in new_shapes]:
        bytes_left -= len(new_shapes[number])
        if bytes_left >= 0:
            shapes[number] = new_shapes[number]
    fitting = _first_within(bytes_left, whole)
    if MAP_BYTES - bytes_left + sum(row.stored_bytes for row in fitting) > EXPENSIVE_PAGE_BYTES:
        answer_in_turn()
    return shapes | _boundary_texts(account_id, fitting)


def _simplify_boundaries(boundaries: dict[int, str], level: int | None) -> dict[int, str]:
    """The shapes of boundaries without stored ones; the boundary itself if it is shown whole."""
    if level is None:
        return boundaries
    whole = {row: text for row, text in boundaries.items() if is_shown_whole(len(text), level)}
    large = {row: text for row, text in boundaries.items() if row not in whole}
    pairs = zip(large, map_shapes(list(large.values()), level), strict=True)
    return whole | {row: shapes[level] for row, shapes in pairs if level in shapes}


def _first_within(most: int, rows: Sequence[Any]) -> list[Any]:
    """The first rows whose boundaries fit into ``most`` bytes together; larger ones are skipped."""
    fitting = []
    for row in rows:
        if row.stored_bytes <= most:
            fitting.append(row)
            most -= row.stored_bytes
    return fitting


def _stored_shapes(
    account_id: str, rows: Sequence[Any], level: int | None
) -> Iterator[tuple[int, str]]:
    """Yield (row, shape) for stored shapes that are up to date."""
    areas = {row.row: row.area_m2 for row in rows}
    for number, area, text in in_groups(account_id, _SHAPES, rows, level=level):
        if areas[number] == area:
            yield number, text


def _boundary_texts(account_id: str, rows: Sequence[Any]) -> dict[int, str]:
    return {number: text for number, text in in_groups(account_id, _BOUNDARIES, rows) if text}


def in_groups(
    account_id: str, query: CompiledQuery, rows: Sequence[Any], **values: Any
) -> Iterator[tuple[Any, ...]]:
    """Yield what a query by row reads of some projects, in groups."""
    for start in range(0, len(rows), _GROUP):
        group = [row.row for row in rows[start : start + _GROUP]]
        batches = query.stream(_AT_ONCE, account_id=account_id, ids=group, **values)
        yield from chain.from_iterable(batches)


# The row of the project, the area and the shape at a level of the map.
_SHAPES: Final = CompiledQuery(
    columns_of(
        BoundaryShape, BoundaryShape.project_row, BoundaryShape.area_m2, BoundaryShape.geometry
    )
    .where(
        is_among_ids(BoundaryShape.project_row.expression),
        BoundaryShape.level == bindparam("level"),
    )
    .order_by(BoundaryShape.area_m2.desc(), BoundaryShape.project_row.desc())
)


def by_row(column: InstrumentedAttribute[Any]) -> CompiledQuery:
    """Read the row and a column of projects, found by the row alone: with the account as a
    condition, SQLite would scan the whole account."""
    read = (Project.account_id, Project.id, Project.row, column)
    rows = fenced_rows(list(map(api_column, read)), is_among_ids(Project.row.expression))
    return CompiledQuery(columns_among(rows, "row", column.key))


_BOUNDARIES: Final = by_row(Project.geometry)
