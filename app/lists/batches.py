"""Reading all rows of an account in the order of a key, for files.

As in ``app.lists.scanning``, each batch is a query of its own, which begins after the last row of
the one before, so that nothing is held between two of them. That module reads what lists filter.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final, Generic, Protocol, TypeVar

from sqlalchemy import ColumnElement, Select, bindparam, tuple_, type_coerce
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.types import NullType

from app.db.queries import CompiledQuery
from app.policy.files import EXPORT_ROWS, EXPORT_ROWS_BYTES
from app.values.batching import batched_by_bytes

T = TypeVar("T")

_AS_STORED: Final = NullType()  # times that were written with SQL can be more precise


class Readable(Protocol[T]):
    """Something that is read in batches. After an error, the same batch can be read again."""

    def read(self) -> list[T] | None:
        """The next batch, which can be empty; None at the end."""


class KeyedRows:
    """A statement that is read in the order of a key.

    Args:
        rows: the statement, which begins with the tenant filter.
        key: columns that are unique together, in the order of an index.
        size: the column with the size of a row in bytes; None if rows are small.
        batch_rows: rows in a batch, at most.
    """

    def __init__(
        self,
        rows: Select[Any],
        *key: InstrumentedAttribute[Any],
        size: InstrumentedAttribute[Any] | None = None,
        batch_rows: int = EXPORT_ROWS,
    ) -> None:
        self._key = [type_coerce(column.expression, _AS_STORED) for column in key]
        self._names = [f"key_{number}" for number in range(len(key))]
        self._batch_rows = batch_rows
        self._first, self._next = self._both(rows)
        # Reads the sizes of the rows of a batch, before the rows themselves.
        counted = None if size is None else rows.with_only_columns(size.label("bytes"))
        self._sizes = None if counted is None else self._both(counted)

    def after(self, key: tuple[Any, ...] | None, **values: Any) -> list[Any]:
        """The next rows as named tuples, which end with the key.

        Args:
            key: of the last row that was read; None: begin with the first.
            values: the parameters of the statement.
        """
        values |= dict(zip(self._names, key or (), strict=False))
        number, is_next = self._batch_rows, key is not None
        if self._sizes is not None:
            sizes = self._sizes[is_next].tuples(**values, most=number)
            number = len(next(batched_by_bytes(sizes, itemgetter(0), EXPORT_ROWS_BYTES), ()))
        return (self._next if is_next else self._first).all(**values, most=number)

    def key_of(self, row: Any) -> tuple[Any, ...]:
        """The key of a row."""
        return tuple(row[-len(self._names) :])

    def _both(self, rows: Select[Any]) -> tuple[CompiledQuery, CompiledQuery]:
        """The statements for the first batch and for all others."""
        named = zip(self._key, self._names, strict=True)
        rows = rows.add_columns(*(column.label(name) for column, name in named))
        rows = rows.order_by(*self._key).limit(bindparam("most"))
        return CompiledQuery(rows), CompiledQuery(rows.where(self._is_after()))

    def _is_after(self) -> ColumnElement[bool]:
        last = (bindparam(name, type_=_AS_STORED) for name in self._names)
        return tuple_(*self._key) > tuple_(*last)


class Batches(Generic[T]):
    """Reads the rows of a statement.

    Args:
        make: makes a record from a row, a named tuple.
        values: the parameters of the statement.
    """

    def __init__(self, rows: KeyedRows, make: Callable[[Any], T], **values: Any) -> None:
        self._rows, self._make, self._values = rows, make, values
        self._last: tuple[Any, ...] | None = None

    def read(self) -> list[T] | None:
        """The next batch; None at the end."""
        found = self._rows.after(self._last, **self._values)
        if not found:
            return None
        batch = [self._make(row) for row in found]
        self._last = self._rows.key_of(found[-1])
        return batch


class NestedBatches(Generic[T]):
    """Reads the rows that belong to other rows, such as the features of imports.

    Args:
        owners: the rows to which they belong.
        begin: begins to read the rows of one batch of owners.
    """

    def __init__(self, owners: Readable[Any], begin: Callable[[list[Any]], Readable[T]]) -> None:
        self._owners, self._begin = owners, begin
        self._current: Readable[T] | None = None

    def read(self) -> list[T] | None:
        """The next batch, which can be empty; None at the end."""
        if self._current is None:
            batch = self._owners.read()
            if batch is None:
                return None
            self._current = self._begin(batch)
        found = self._current.read()
        if found is None:
            self._current = None
        return found or []
