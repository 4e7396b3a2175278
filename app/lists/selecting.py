"""The rows that a filter of ``app.lists.cql`` leaves, in pages that follow one another.

A page begins after the last row of the one before, oldest first. So no row is missing from the
pages or in two of them because others are written or deleted meanwhile. A page ends after so many
rows or bytes: it may have fewer than were asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache, cached_property
from itertools import chain
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, select, tuple_, type_coerce
from sqlalchemy.types import NullType

from app.api.expensive import answer_in_turn
from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.queries import CompiledQuery, engine
from app.db.search_index import among, box_values, candidates, fence, page_of
from app.geometry.shapes import QueryShape
from app.lists.conditions import GEOMETRY, Conditions, Parameters
from app.lists.cql.nodes import Comparison, In, Intersects, Node, both, conjuncts, shapes_in
from app.lists.intersecting import RowsApart, Source, TooMuchToCompare
from app.policy.bounds import EXPENSIVE_PAGE_BYTES
from app.values.batching import batched_by_bytes

Row = tuple[Any, ...]

_AS_STORED: Final = NullType()  # of a moment: one that was written with SQL can be more precise
_CURSOR: Final = re.compile(r"([0-9T:.Z+ -]{10,40})~([a-z]{4,5}_[0-9a-hjkmnp-tv-z]{26})")
_FEW: Final = 1_000  # rows whose names and descriptions do not make a page large
_AT_ONCE: Final = 2  # rows of a large page in memory, each with a boundary of megabytes


class CursorInvalid(ValueError):
    """The text is no place between two pages."""


class Selection(NamedTuple):
    """Which rows of an account.

    Args:
        box: a geometry that rows intersect, besides the filter. If there is too much to compare,
            the boxes around their boundaries are enough.
        after: the cursor of the page before.
        limit: rows of a page.
        most_bytes: likewise bytes; the first row may have more.
        within: ids of the projects that rows belong to; None: any.
    """

    condition: Node | None = None
    box: QueryShape | None = None
    after: str | None = None
    limit: int = 1
    most_bytes: int = EXPENSIVE_PAGE_BYTES
    within: tuple[str, ...] | None = None


class SelectedPage(NamedTuple):
    """A page.

    ``rows`` has the values of the source's ``shown``, each read when it is asked for. ``next``
    gives the cursor of the next page, if there is one, once all rows were read. ``is_large`` says
    that they may not fit into memory.
    """

    rows: Iterator[Row]
    matched: int
    is_large: bool
    next: Callable[[], str | None]


def select_page(source: Source, account_id: str, selection: Selection) -> SelectedPage:
    """A page of the rows that a selection leaves.

    Raises:
        CursorInvalid: ``after`` is no cursor.
        TooMuchToCompare: a geometry of the filter touches the boxes of too many rows.
        ServiceUnavailable: the page is large, and too many others are before this request.
    """
    return _Reader(source, account_id, selection).page()


class _Reader:
    """Reads one page."""

    def __init__(self, source: Source, account_id: str, selection: Selection) -> None:
        self._source, self._account_id, self._selection = source, account_id, selection
        self._dialect = engine().dialect.name
        box = None if selection.box is None else Intersects(GEOMETRY, selection.box)
        within = (
            None if selection.within is None else In(source.table.project.name, selection.within)
        )
        self._node = both(box, within, selection.condition)
        self._after = _read_cursor(selection.after, self._dialect) if selection.after else None
        self._last: Row | None = None

    def page(self) -> SelectedPage:
        count, stored = self._source.totals(self._account_id)
        matched = self._count() if self._node is not None or count is None else count
        limit, is_large = self._selection.limit, False
        if limit > _FEW or stored > EXPENSIVE_PAGE_BYTES:
            limit, total = self._bounded()
            is_large = total > EXPENSIVE_PAGE_BYTES
        if is_large:
            answer_in_turn()
        query, values = self._rows()
        values |= {"size": limit + 1, "skipped": 0}
        found: Iterable[Row] = (
            chain.from_iterable(query.stream(_AT_ONCE, **values))
            if is_large
            else query.tuples(**values)
        )
        return SelectedPage(self._until(limit, found), matched, is_large, self._next)

    def _until(self, limit: int, rows: Iterable[Row]) -> Iterator[Row]:
        """So many rows."""
        last = None
        for number, row in enumerate(rows):
            if number == limit:
                self._last = last
                return
            last = row
            yield row

    def _next(self) -> str | None:
        return None if self._last is None else self._cursor

    @cached_property
    def _cursor(self) -> str:
        """The place after the last row, once all were read."""
        assert self._last is not None
        row_id = self._last[self._source.id_place]
        rows = _moment(self._source).tuples(account_id=self._account_id, row_id=row_id)
        if not rows:  # it was deleted a moment ago
            return f"{self._last[self._source.time_place]}~{row_id}"
        moment = rows[0][0]
        return f"{moment.isoformat() if isinstance(moment, datetime) else moment}~{row_id}"

    def _count(self) -> int:
        keys, _, values = self._keys("id")
        counted = select(func.count().label("total")).select_from(keys.subquery())
        return int(CompiledQuery(counted).scalar(**values))

    def _bounded(self) -> tuple[int, int]:
        """How many rows the page has, and how many bytes they have together."""
        keys, columns, values = self._keys("bytes")
        query = CompiledQuery(page_of(self._in_order(keys, columns)))
        rows = query.tuples(**values, size=self._selection.limit, skipped=0)
        batches = batched_by_bytes((size for (size,) in rows), int, self._selection.most_bytes)
        sizes = next(batches, [])
        return max(len(sizes), 1), sum(sizes)

    def _rows(self) -> tuple[CompiledQuery, dict[str, Any]]:
        """The rows of a page, and the parameters."""
        if self._node is None:
            return _rows_in_order(self._source, self._after is None), dict(self._values)
        table, key = self._source.table, self._source.table.key(self._dialect)
        keys, columns, values = self._keys(key.key)
        found = among(key.expression, page_of(self._in_order(keys, columns)), self._dialect)
        shown, own = self._source.shown, table.table.c
        read = [own.account_id, own.created_at.label("moment"), *map(api_column, shown)]
        rows = fence(read, found)
        page = columns_among(rows, *(column.key for column in shown))
        return CompiledQuery(page.order_by(rows.c.moment, rows.c.id)), values

    def _keys(self, *names: str) -> tuple[Select[Any], Any, dict[str, Any]]:
        """These columns of the rows of all pages, the columns that sort them, the parameters."""
        table, parameters = self._source.table, Parameters()
        columns = table.table.c
        made = Conditions(table, self._dialect, self._apart, parameters)
        condition = [] if self._node is None else [made.of(self._node)]
        sizes = [self._source.bytes.label("bytes")] if "bytes" in names else []
        values = self._values | parameters.values
        if self._index == "owner":
            named = [table.attribute(name) for name in names if name != "bytes"]
            keys = columns_of(table.model, *named).add_columns(*sizes).where(*condition)
            return keys, columns, values
        read = [columns[name] for name in ("account_id", "id", "row", "created_at")]
        near = candidates(table.table, self._dialect, self._index, table.owner, table.sides)
        found = fence([*read, *sizes], and_(near, *condition))
        return columns_among(found, *names), found.c, values

    def _in_order(self, keys: Select[Any], columns: Any) -> Select[Any]:
        """The keys after the cursor, oldest first."""
        ordered = keys.order_by(columns.created_at, columns.id)
        return ordered if self._after is None else ordered.where(_is_after(columns))

    @cached_property
    def _index(self) -> Any:
        """The index that finds the fewest rows: that of boxes, or that of a unique column."""
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
    def _apart(self) -> dict[QueryShape, Sequence[str]]:
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
        values: dict[str, Any] = {"account_id": self._account_id, owner: self._account_id}
        if self._after is not None:
            values |= dict(zip(("after_time", "after_id"), self._after, strict=True))
        for part in conjuncts(self._node):
            if isinstance(part, Intersects):
                return values | box_values(part.shape.bounds, self._account_id, self._dialect)
        return values


@cache
def _rows_in_order(source: Source, is_first: bool) -> CompiledQuery:
    """The rows of a page of all rows, read whole on the way."""
    columns = source.table.table.c
    rows = columns_of(source.table.model, *source.shown)
    rows = rows if is_first else rows.where(_is_after(columns))
    return CompiledQuery(page_of(rows.order_by(columns.created_at, columns.id)))


@cache
def _moment(source: Source) -> CompiledQuery:
    """When a row was created, as it is stored: records show it to the millisecond."""
    columns = source.table.table.c
    moment = type_coerce(columns.created_at, _AS_STORED).label("moment")
    rows = columns_of(source.table.model).add_columns(moment)
    return CompiledQuery(rows.where(columns.id == bindparam("row_id")))


def _is_after(columns: Any) -> ColumnElement[bool]:
    """Whether a row comes after that of the cursor."""
    place = tuple_(type_coerce(columns.created_at, _AS_STORED), columns.id)
    return place > tuple_(bindparam("after_time", type_=_AS_STORED), bindparam("after_id"))


def _read_cursor(text: str, dialect: str) -> tuple[Any, str]:
    """The moment of a row, as the driver takes it, and its id."""
    found = _CURSOR.fullmatch(text)
    try:
        if found is not None:
            moment = found[1] if dialect == "sqlite" else datetime.fromisoformat(found[1])
            return moment, found[2]
    except ValueError:
        pass
    raise CursorInvalid
