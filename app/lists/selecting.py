"""The rows that match a filter of ``app.lists.cql``, oldest first, in pages by cursor.

A page ends after a number of rows or of bytes, and may have fewer rows than requested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache, cached_property
from itertools import chain
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, and_

from app.api.expensive import answer_in_turn
from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import box_values, fenced_rows, indexed_candidates, key_among
from app.geometry.shapes import QueryShape
from app.lists import totals
from app.lists.conditions import GEOMETRY, Conditions, Parameters
from app.lists.cql.nodes import (
    Comparison,
    In,
    Intersects,
    IsNull,
    Node,
    Not,
    conjunction,
    conjuncts,
    shapes_in,
)
from app.lists.extents import holds_all
from app.lists.intersecting import RowsApart, TooMuchToCompare
from app.lists.keyset import Key, Keyset, key_values
from app.lists.query import FeatureSource
from app.policy.request_limits import EXPENSIVE_PAGE_BYTES
from app.values.batching import batched_by_bytes

Row = tuple[Any, ...]

_CURSOR: Final = re.compile(r"([0-9T:.Z+ -]{10,40})~([a-z]{4,5}_[0-9a-hjkmnp-tv-z]{26})")
FEW: Final = 1_000  # rows whose names and descriptions do not make a page large
_AT_ONCE: Final = 2  # rows of a large page in memory, each with a boundary of megabytes


class CursorInvalid(ValueError):
    """The text is not a cursor."""


class Selection(NamedTuple):
    """The selected rows, and their page.

    Args:
        box: a geometry that rows intersect, besides the filter. If there is too much to compare,
            the boxes around their boundaries are compared.
        after: the cursor of the previous page.
        limit: rows of a page.
        most_bytes: bytes of a page; the first row may have more.
        within: ids of the projects of rows; None: any.
    """

    condition: Node | None = None
    box: QueryShape | None = None
    after: str | None = None
    limit: int = 1
    most_bytes: int = EXPENSIVE_PAGE_BYTES
    within: tuple[str, ...] | None = None


class SelectedPage(NamedTuple):
    """A page.

    Attributes:
        rows: the values of the source's ``output``, read lazily.
        matched: the number of rows on all pages.
        is_large: the rows may not fit into memory.
        next: returns the cursor of the next page, if there is one, once all rows were read.
    """

    rows: Iterator[Row]
    matched: int
    is_large: bool
    next: Callable[[], str | None]


def select_page(source: FeatureSource, account_id: str, selection: Selection) -> SelectedPage:
    """Select a page.

    Raises:
        CursorInvalid: ``after`` is no cursor.
        TooMuchToCompare: a geometry of the filter touches the boxes of too many rows.
        ServiceUnavailable: the page is large, and too many requests are waiting.
    """
    return _PageReader(source, account_id, selection).page()


class _PageReader:
    def __init__(self, source: FeatureSource, account_id: str, selection: Selection) -> None:
        self._source, self._account_id, self._selection = source, account_id, selection
        self._dialect = reading_engine().dialect.name
        box = None if selection.box is None else self._intersection(selection.box)
        within = (
            None if selection.within is None else In(source.table.project.name, selection.within)
        )
        self._node = conjunction(box, within, selection.condition)
        self._after = _read_cursor(selection.after, self._dialect) if selection.after else None
        self._last: Key | None = None  # the key of the last row, if there is another page

    def _intersection(self, shape: QueryShape) -> Node:
        """The filter by a geometry, or for any place if the geometry contains all."""
        table = self._source.table
        if shape.is_box and holds_all(table, self._account_id, shape.bounds):
            return Not(IsNull(GEOMETRY))
        return Intersects(GEOMETRY, shape)

    def page(self) -> SelectedPage:
        count, stored = self._source.totals(self._account_id)
        matched = self._count() if self._node is not None or count is None else count
        limit, is_large = self._selection.limit, False
        if limit > FEW or stored > EXPENSIVE_PAGE_BYTES:
            limit, total = self._bounded_size()
            is_large = total > EXPENSIVE_PAGE_BYTES
        if is_large:
            answer_in_turn()
        query, values = self._rows(), self._values | {"size": limit + 1, "skipped": 0}
        rows: Iterable[Row] = (
            chain.from_iterable(query.stream(_AT_ONCE, **values))
            if is_large
            else query.tuples(**values)
        )
        return SelectedPage(self._limited_rows(limit, rows), matched, is_large, self._next_cursor)

    def _limited_rows(self, limit: int, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield at most ``limit`` rows, without their keys."""
        key: Key | None = None
        for number, (*row, time, row_id) in enumerate(rows):
            if number == limit:
                self._last = key
                return
            key = time, row_id
            yield tuple(row)

    def _next_cursor(self) -> str | None:
        if self._last is None:
            return None
        time, row_id = self._last
        return f"{time.isoformat() if isinstance(time, datetime) else time}~{row_id}"

    def _count(self) -> int:
        keys, _ = self._keys("id")
        return totals.count_total(totals.count_statement(keys), self._values)

    def _bounded_size(self) -> tuple[int, int]:
        """Return (rows of the page, their bytes)."""
        query = CompiledQuery(self._page(*self._keys("bytes")))
        rows = query.tuples(**self._values, size=self._selection.limit, skipped=0)
        batches = batched_by_bytes((size for (size,) in rows), int, self._selection.most_bytes)
        sizes = next(batches, [])
        return max(len(sizes), 1), sum(sizes)

    def _rows(self) -> CompiledQuery:
        """Read the rows of a page, each with its key at the end."""
        if self._node is None:
            return _all_rows(self._source, self._after is None)
        table = self._source.table
        key, output, own = table.key(self._dialect), self._source.output, table.table.c
        in_page = key_among(key.expression, self._page(*self._keys(key.key)))
        order = Keyset(own.created_at, own.id)
        rows = fenced_rows([own.account_id, *map(api_column, output), *order.labeled], in_page)
        names = (*(column.key for column in output), *order.names)
        page = columns_among(rows, *names, is_kept=True)
        return CompiledQuery(page.order_by(*(rows.c[name] for name in order.names)))

    def _keys(self, *names: str) -> tuple[Select[Any], Any]:
        """Return (select of ``names`` of the rows of all pages, sort columns)."""
        table, (conditions, _) = self._source.table, self._filter
        sizes = [self._source.bytes.label("bytes")] if "bytes" in names else []
        if self._index == "owner":
            named = [table.attribute(name) for name in names if name != "bytes"]
            keys = columns_of(table.model, *named).add_columns(*sizes).where(*conditions)
            return keys, table.table.c
        read = [table.table.c[name] for name in ("account_id", "id", "row", "created_at")]
        near = indexed_candidates(table.table, self._dialect, self._index, table.owner, table.sides)
        near_rows = fenced_rows([*read, *sizes], and_(near, *conditions))
        return columns_among(near_rows, *names), near_rows.c

    def _page(self, keys: Select[Any], columns: Any) -> Select[Any]:
        """The keys of a page, oldest first."""
        order = Keyset(columns.created_at, columns.id)
        return order.page(keys, is_first=self._after is None)

    @cached_property
    def _filter(self) -> tuple[list[ColumnElement[bool]], dict[str, Any]]:
        """Return (conditions, their parameters)."""
        if self._node is None:
            return [], {}
        parameters = Parameters()
        conditions = Conditions(self._source.table, self._dialect, self._ids_apart, parameters)
        return [conditions.of(self._node)], parameters.values

    @cached_property
    def _index(self) -> Any:
        """The index that finds the fewest rows."""
        unique = {field.name for field in self._source.table.fields if field.unique} | {"id"}
        parts = conjuncts(self._node)
        if any(isinstance(part, Intersects) for part in parts):
            return "box"
        equal = (
            part.property
            for part in parts
            if (isinstance(part, Comparison) and part.operator == "=") or isinstance(part, In)
        )
        return "key" if unique.intersection(equal) else "owner"

    @cached_property
    def _ids_apart(self) -> dict[QueryShape, Sequence[str]]:
        apart: dict[QueryShape, Sequence[str]] = {}
        rows_apart = RowsApart(self._source, self._account_id, self._dialect)
        for shape in shapes_in(self._node):
            try:
                apart[shape] = rows_apart.find(shape)
            except TooMuchToCompare:
                if shape is not self._selection.box:
                    raise
        return apart

    @cached_property
    def _values(self) -> dict[str, Any]:
        owner = self._source.table.owner
        values = {"account_id": self._account_id, owner: self._account_id} | self._filter[1]
        if self._after is not None:
            values |= key_values(self._after)
        for part in conjuncts(self._node):
            if isinstance(part, Intersects):
                return values | box_values(part.shape.bounds, self._account_id, self._dialect)
        return values


@cache
def _all_rows(source: FeatureSource, is_first: bool) -> CompiledQuery:
    """Read a page without a filter, with its keys in one query."""
    columns = source.table.table.c
    order = Keyset(columns.created_at, columns.id)
    rows = columns_of(source.table.model, *source.output).add_columns(*order.labeled)
    return CompiledQuery(order.page(rows, is_first=is_first))


def _read_cursor(text: str, dialect: str) -> Key:
    """The key of a row: the time of its creation, as the driver takes it, and its id.

    Raises CursorInvalid.
    """
    match = _CURSOR.fullmatch(text)
    try:
        if match is not None:
            moment = datetime.fromisoformat(match[1])
            return match[1] if dialect == "sqlite" else moment, match[2]
    except ValueError:
        pass
    raise CursorInvalid
