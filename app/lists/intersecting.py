"""The rows whose boxes touch a geometry without intersecting it.

Boxes decide for most rows: a shape in the box of a query intersects it, and a location is a box.
The boundaries of the others are read and compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import and_, bindparam, not_
from sqlalchemy.orm import InstrumentedAttribute

from app.api.expensive import expensive_work
from app.auth.tenant import columns_among
from app.db.queries import CompiledQuery
from app.db.search_index import box_values, fenced_rows, indexed_candidates, is_among_ids
from app.geometry.shapes import QueryShape
from app.lists.conditions import Parameters, is_within, touches_box
from app.lists.query import FeatureSource
from app.policy.ogc import SHAPE_BYTES, SHAPE_ROWS
from app.policy.request_limits import EXPENSIVE_PAGE_BYTES
from app.values.batching import batched_by_bytes

AT_ONCE: Final = 100  # boundaries, or fewer when they are large
_AT_ONCE_BYTES: Final = 512 * 1024  # compared with any shape in some 0.1 s


class TooMuchToCompare(Exception):
    """A geometry takes too long to compare with the rows whose boxes it touches."""


class RowsApart:
    """Compares all geometries of a query with an account's rows, within the limits of a request."""

    def __init__(self, source: FeatureSource, account_id: str, dialect: str) -> None:
        self._source, self._table = source, source.table
        self._account_id, self._dialect = account_id, dialect
        self._bytes_left, self._rows_left = SHAPE_BYTES, SHAPE_ROWS

    def find(self, shape: QueryShape) -> list[str]:
        """The ids of the rows whose boxes touch a shape without intersecting it.

        Raises:
            TooMuchToCompare: there is too much to compare.
            ServiceUnavailable: there is much to compare, and too many requests are waiting.
        """
        boundary = self._source.boundary
        if boundary is None:
            return [] if shape.is_box else self._points_apart(shape)
        rows = self._undecided_rows(shape)
        total = sum(size for _, size, *_ in rows)
        if total <= EXPENSIVE_PAGE_BYTES:
            return self._boundaries_apart(boundary, shape, rows)
        with expensive_work():
            return self._boundaries_apart(boundary, shape, rows)

    def _boundaries_apart(
        self, boundary: InstrumentedAttribute[Any], shape: QueryShape, rows: Sequence[Any]
    ) -> list[str]:
        columns = self._table.table.c
        read = [columns.account_id, columns.id, boundary.expression]
        texts = fenced_rows(read, is_among_ids(columns.id))
        query = CompiledQuery(columns_among(texts, "id", boundary.key))
        apart = list[str]()
        for batch in batched_by_bytes(rows, itemgetter(1), _AT_ONCE_BYTES, AT_ONCE):
            ids = [row_id for row_id, *_ in batch]
            boundaries = query.tuples(account_id=self._account_id, ids=ids)
            tests = _known(shape.intersects([text for _, text in boundaries]))
            apart += [row[0] for row, meets in zip(boundaries, tests, strict=True) if not meets]
        return apart

    def _points_apart(self, shape: QueryShape) -> list[str]:
        rows = self._undecided_rows(shape)
        if not rows:
            return []
        ids, _, longitudes, latitudes = zip(*rows, strict=True)
        tests = _known(shape.intersects_points(longitudes, latitudes))
        return [row_id for row_id, meets in zip(ids, tests, strict=True) if not meets]

    def _undecided_rows(self, shape: QueryShape) -> list[tuple[Any, ...]]:
        """The rows whose boxes do not decide if they intersect the shape: id, bytes, and the
        western and southern sides of the box. Raises TooMuchToCompare."""
        table, parameters = self._table, Parameters()
        columns, west, south = table.table.c, *table.sides[:2]
        near = indexed_candidates(table.table, self._dialect, "box", table.owner, table.sides)
        conditions = [near, touches_box(table, shape.bounds, parameters)]
        if shape.is_box:
            conditions.append(not_(is_within(table, shape.bounds, parameters)))
        read = [columns[name] for name in ("account_id", "id", west, south)]
        near_rows = fenced_rows([*read, self._source.bytes.label("bytes")], and_(*conditions))
        names = ("id", "bytes", west, south)
        query = CompiledQuery(columns_among(near_rows, *names).limit(bindparam("most")))
        values: dict[str, Any] = {"account_id": self._account_id, table.owner: self._account_id}
        values |= box_values(shape.bounds, self._account_id, self._dialect) | parameters.values
        rows = query.tuples(**values, most=self._rows_left + 1)
        self._rows_left -= len(rows)
        self._bytes_left -= sum(size for _, size, *_ in rows)
        if min(self._rows_left, self._bytes_left) < 0:
            raise TooMuchToCompare
        return rows


def _known(tests: list[bool] | None) -> list[bool]:
    if tests is None:
        raise TooMuchToCompare
    return tests
