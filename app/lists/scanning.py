"""Scanning all rows of a statement or a list, in the order of a key, for files.

A scan yields batches of records that fit into memory. Each query begins after the last row of the
previous one, so that nothing is held between two: no transaction, no connection, and no snapshot
that keeps SQLite's log. A row that exists all the time is read once, whatever is written meanwhile;
a new one may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
from app.db.search_index import fenced_rows, is_among_ids
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
    """Calls a function that sends queries, without holding anything afterwards."""

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
        size: ColumnElement[Any] | InstrumentedAttribute[Any] | None = None,
    ) -> None:
        self._key = Keyset(*(column.expression for column in key))
        self._first, self._next = self._queries(rows)
        # Reads the sizes of a batch before its rows.
        counted = None if size is None else rows.with_only_columns(size.label("bytes"))
        self._sizes = None if counted is None else self._queries(counted)

    def batches(
        self,
        read: Reader,
        most: int = EXPORT_ROWS,
        fetch: Callable[..., list[Any]] = CompiledQuery.all,
        most_bytes: int = EXPORT_ROWS_BYTES,
        **values: Any,
    ) -> Iterator[list[Any]]:
        """Yield the rows, which end with the key.

        Args:
            most: rows in a batch.
            fetch: returns named tuples; ``CompiledQuery.tuples`` costs less.
            most_bytes: in a batch, by the sizes of its rows.
            values: the parameters of the statement.
        """
        key: Key | None = None
        while rows := read(self._rows_after, key, most, most_bytes, fetch, values):
            yield rows
            key = tuple(rows[-1][-len(self._key.names) :])

    def _rows_after(
        self,
        key: Key | None,
        most: int,
        most_bytes: int,
        fetch: Callable[..., list[Any]],
        values: dict[str, Any],
    ) -> list[Any]:
        """The rows after a key that fit into memory together."""
        is_next = key is not None
        values = {**values, **key_values(key or ()), "skipped": 0}
        if self._sizes is not None:
            sizes = self._sizes[is_next].tuples(**values, size=most)
            most = len(next(batched_by_bytes(sizes, itemgetter(0), most_bytes), ()))
        return fetch(self._next if is_next else self._first, **values, size=most)

    def _queries(self, rows: Select[Any]) -> tuple[CompiledQuery, CompiledQuery]:
        """Return (statement for the first batch, statement for all others)."""
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
    output: Columns,
    size: InstrumentedAttribute[Any] | None,
    make: Callable[..., T],
) -> Iterator[list[T]]:
    """Yield the rows that match the filters of a list, oldest first, in batches, which can be
    empty.

    Args:
        owner_id: the value of the table's ``owner``.
        output: the columns that are read.
        size: the column with the size of a row in bytes; None if rows are small.
        make: makes a record from the values of ``output``.
    """
    statement = read(list_statement, table, query)
    values = statement.values(account_id, owner_id, query)
    rows, sizes = _rows_query(table, output), _sizes_query(statement, size)
    for batch in sizes.batches(read, EXPORT_KEYS, CompiledQuery.tuples, **values):
        matching = [(bytes_, row_id) for matches, bytes_, _, row_id in batch if matches]
        for group in batched_by_bytes(matching, itemgetter(0), EXPORT_ROWS_BYTES, EXPORT_ROWS):
            ids = [row_id for _, row_id in group]
            yield list(starmap(make, read(rows.tuples, account_id=account_id, ids=ids)))
        if not matching:
            yield []


@cache
def _sizes_query(statement: ListStatement, size: InstrumentedAttribute[Any] | None) -> KeyedRows:
    """Read rows in order of creation: if it matches the filters, its bytes, its key.

    A filter without an index in this order is a column instead of a condition. So a query reads at
    most EXPORT_KEYS rows, however few of them match.
    """
    table, columns = statement.table, statement.table.table.c
    bytes_of = literal_column("0") if size is None else size.expression
    tests = statement.scanned()
    matches = and_(*tests) if tests else literal_column("1")
    sizes = columns_of(table.model).add_columns(matches.label("matches"), bytes_of.label("bytes"))
    return KeyedRows(statement.without_scanned().filtered(sizes), columns.created_at, columns.id)


@cache
def _rows_query(table: SearchedTable, output: Columns) -> CompiledQuery:
    """Read rows by id alone: with the account as a condition, SQLite would scan the whole
    account."""
    hidden = {name: getattr(table.model, name) for name in ("account_id", "created_at", "id")}
    read = hidden | {column.key: column for column in output}
    condition = is_among_ids(table.table.c.id)
    named = fenced_rows([api_column(column) for column in read.values()], condition)
    rows = columns_among(named, *(column.key for column in output))
    return CompiledQuery(rows.order_by(named.c.created_at, named.c.id))
