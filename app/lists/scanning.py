"""All rows of a statement or a list, in the order of a key, for files that have all of them.

A scan yields batches of records that fit into memory together. Each of its queries begins after
the last row of the one before, so that nothing is held between two of them: no transaction, no
connection, and on SQLite no snapshot that its log would have to be kept for. A row that is there
all the time is read once, whatever else is written meanwhile; one that is new may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import starmap
from operator import itemgetter
from typing import Any, ParamSpec, Protocol, TypeVar

from flask import Flask
from sqlalchemy import ColumnElement, Select, and_, literal_column
from sqlalchemy.orm import InstrumentedAttribute

from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.queries import CompiledQuery
from app.db.search_index import fence, id_values, is_among_ids
from app.lists.keyset import Key, Keyset, key_values
from app.lists.query import ListQuery, SearchedTable
from app.lists.statements import Columns, ListStatement, list_statement
from app.policy.files import EXPORT_KEYS, EXPORT_ROWS, EXPORT_ROWS_BYTES
from app.values import processor_clock
from app.values.batching import batched_by_bytes

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
OnBatch = Callable[[int], None]


class Reader(Protocol):
    """Calls a function that sends queries, and holds nothing afterwards. It may call it twice, if
    the first database is unavailable."""

    def __call__(self, query: Callable[P, T], *args: P.args, **values: P.kwargs) -> T: ...


class KeyedRows:
    """A statement whose rows are read in batches, in the order of a key.

    Args:
        rows: the statement, which begins with the tenant filter.
        key: columns that are unique together, in the order of an index.
        size: the column with the size of a row in bytes; None if rows are small.
    """

    def __init__(
        self,
        rows: Select[Any],
        *key: ColumnElement[Any] | InstrumentedAttribute[Any],
        size: InstrumentedAttribute[Any] | None = None,
    ) -> None:
        self._key = Keyset(*(column.expression for column in key))
        self._first, self._next = self._both(rows)
        # Reads the sizes of the rows of a batch, before the rows themselves.
        counted = None if size is None else rows.with_only_columns(size.label("bytes"))
        self._sizes = None if counted is None else self._both(counted)

    def batches(
        self,
        read: Reader,
        most: int = EXPORT_ROWS,
        fetch: Callable[..., list[Any]] = CompiledQuery.all,
        **values: Any,
    ) -> Iterator[list[Any]]:
        """Yield the rows, which end with the key.

        Args:
            most: rows in a batch.
            fetch: returns named tuples; ``CompiledQuery.tuples`` costs less.
            values: the parameters of the statement.
        """
        key: Key | None = None
        while rows := read(self._after, key, most, fetch, values):
            yield rows
            key = tuple(rows[-1][-len(self._key.names) :])

    def _after(
        self, key: Key | None, most: int, fetch: Callable[..., list[Any]], values: dict[str, Any]
    ) -> list[Any]:
        """The rows after a key, as many as fit into memory together."""
        is_next = key is not None
        values = {**values, **key_values(key or ()), "skipped": 0}
        if self._sizes is not None:
            sizes = self._sizes[is_next].tuples(**values, size=most)
            most = len(next(batched_by_bytes(sizes, itemgetter(0), EXPORT_ROWS_BYTES), ()))
        return fetch(self._next if is_next else self._first, **values, size=most)

    def _both(self, rows: Select[Any]) -> tuple[CompiledQuery, CompiledQuery]:
        """The statements for the first batch and for all others."""
        rows = rows.add_columns(*self._key.labeled)
        first, following = (self._key.page(rows, is_first=is_first) for is_first in (True, False))
        return CompiledQuery(first), CompiledQuery(following)


def in_short_queries(
    app: Flask, scan: Callable[[Reader], Iterable[list[T]]], on_batch: OnBatch
) -> Iterator[T]:
    """Yield the records of a scan, which holds no connection between two queries.

    Args:
        app: provides a context for each query.
        on_batch: called with the number of records of each batch.
    """

    def read(query: Callable[P, R], *args: P.args, **values: P.kwargs) -> R:
        with app.app_context():
            return query(*args, **values)

    for batch in scan(read):
        processor_clock.restart()  # some formats have no piece before all batches are read
        on_batch(len(batch))
        yield from batch


def scan_list(
    read: Reader,
    table: SearchedTable,
    account_id: str,
    owner_id: str,
    query: ListQuery,
    *,
    shown: Columns,
    size: InstrumentedAttribute[Any] | None,
    make: Callable[..., T],
) -> Iterator[list[T]]:
    """Yield what the filters of a list leave, oldest first, in batches, which can be empty.

    Args:
        owner_id: the value of the table's ``owner``.
        shown: the columns that are read.
        size: the column with the size of a row in bytes; None if rows are small.
        make: makes a record from the values of ``shown``.
    """
    statement = read(list_statement, table, query)
    values = statement.values(account_id, owner_id, query)
    rows, sizes = _rows(table, shown, statement.dialect), _sizes(statement, size)
    for batch in sizes.batches(read, EXPORT_KEYS, CompiledQuery.tuples, **values):
        found = [(bytes_, row_id) for matches, bytes_, _, row_id in batch if matches]
        for some in batched_by_bytes(found, itemgetter(0), EXPORT_ROWS_BYTES, EXPORT_ROWS):
            ids = id_values([row_id for _, row_id in some], statement.dialect)
            yield list(starmap(make, read(rows.tuples, account_id=account_id, ids=ids)))
        if not found:
            yield []


@cache
def _sizes(statement: ListStatement, size: InstrumentedAttribute[Any] | None) -> KeyedRows:
    """The rows in order of creation: whether one matches the filters, its bytes, its key.

    A filter that no index has in this order is a column rather than a condition. So a query looks
    at EXPORT_KEYS rows and no more, however few of them match.
    """
    table, columns = statement.table, statement.table.table.c
    bytes_of = literal_column("0") if size is None else size.expression
    tests = replace(statement, ids=False, within=False).tests()
    matches = and_(*tests) if tests else literal_column("1")
    sizes = columns_of(table.model).add_columns(matches.label("matches"), bytes_of.label("bytes"))
    indexed = replace(statement, metadata=0, search=False, bbox=False, updated_since=False)
    return KeyedRows(indexed.filtered(sizes), columns.created_at, columns.id)


@cache
def _rows(table: SearchedTable, shown: Columns, dialect: str) -> CompiledQuery:
    """Read the rows with some ids, found by these alone: with the account beside them, SQLite would
    look through all that the account has."""
    hidden = {name: getattr(table.model, name) for name in ("account_id", "created_at", "id")}
    read = hidden | {column.key: column for column in shown}
    condition = is_among_ids(table.table.c.id, dialect)
    found = fence([api_column(column) for column in read.values()], condition)
    rows = columns_among(found, *(column.key for column in shown))
    return CompiledQuery(rows.order_by(found.c.created_at, found.c.id))
