"""Rows as lines of JSON, the same for both databases.

A line is an array of a row's values in the order of the columns. Times are as in the API, bytes are
base64, JSON documents are strings of JSON with sorted names, floats are the shortest text that
reads back as the same number. So equal rows are equal lines on both databases, and a SHA-256 over
the lines in the order of the primary key compares two tables.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    String,
    Table,
    Text,
    TypeDecorator,
    cast,
    select,
    type_coerce,
)

from app import models
from app.db.column_types import ApiTimestamp, Timestamp
from app.values.clock import format_time, parse_time

Value = Any
Row = tuple[Value, ...]


class ColumnEncoding(NamedTuple):
    """Encodes values of a column type for a line, and decodes them for both databases, which take
    times and JSON as text."""

    encode: Callable[[Value], Value] | None = None
    decode: Callable[[Value], Value] | None = None


class TableCodec:
    """Converts the rows of one table to lines and back.

    Args:
        columns: names of the columns, if their order is not that of the table.
    """

    def __init__(self, table: Table, columns: Sequence[str] = ()) -> None:
        self.table = table
        self.name = str(table.name)
        by_name = {str(column.name): column for column in table.columns}
        self.columns = list(columns or by_name)
        self._ordered = [by_name[name] for name in self.columns]
        encodings = list(enumerate(map(_column_encoding, self._ordered)))
        self._encoders = [(n, encoding.encode) for n, encoding in encodings if encoding.encode]
        self._decoders = [(n, encoding.decode) for n, encoding in encodings if encoding.decode]

    def select(self, dialect: str) -> Select[Any]:
        """Select all rows in the order of the primary key; text sorts by code points."""
        key = [_sortable_column(column, dialect) for column in self.table.primary_key]
        return select(*(_raw_column(column, dialect) for column in self._ordered)).order_by(*key)

    def line(self, row: Sequence[Value]) -> bytes:
        """The line of a row of ``select``, with a line feed."""
        values = list(row)
        for index, encode in self._encoders:
            if values[index] is not None:
                values[index] = encode(values[index])
        return orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)

    def row(self, line: bytes) -> Row:
        """The values of a line. Raises ValueError if it is no line of this table."""
        values = orjson.loads(line)
        if not isinstance(values, list) or len(values) != len(self.columns):
            raise ValueError(f"no row of {self.name}")
        for index, decode in self._decoders:
            if values[index] is not None:
                values[index] = decode(values[index])
        return tuple(values)


def table_codecs() -> list[TableCodec]:
    """The codecs of all tables, each after the tables that it references."""
    return [TableCodec(table) for table in models.Project.metadata.sorted_tables]


def table_codecs_found(connection: Connection, names: Sequence[str]) -> list[TableCodec]:
    """The codecs of tables as they are in a database, also of another version."""
    metadata = MetaData()
    metadata.reflect(connection, only=names)
    return [TableCodec(table) for table in metadata.sorted_tables]


def _time_text(value: datetime | str) -> str:
    """A time in the form of the API, also if other software wrote it to SQLite."""
    if isinstance(value, str):
        if len(value) == 24 and value.endswith("Z"):
            return value
        value = parse_time(value)
    return format_time(value if value.tzinfo else value.replace(tzinfo=UTC))


def _float_text(value: float) -> float | str:
    """Write infinity as text, and negative zero, which SQLite does not store, as zero."""
    return value + 0.0 if isfinite(value) else repr(value)


def _canonical_json(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))


_ENCODINGS: Final[tuple[tuple[Any, ColumnEncoding], ...]] = (
    ((Timestamp, DateTime), ColumnEncoding(encode=_time_text)),
    (JSON, ColumnEncoding(encode=_canonical_json)),
    (LargeBinary, ColumnEncoding(encode=lambda value: b64encode(value).decode(), decode=b64decode)),
    (Float, ColumnEncoding(encode=_float_text, decode=float)),
    ((String, Integer, Boolean), ColumnEncoding()),
)


def _column_encoding(column: Column[Any]) -> ColumnEncoding:
    for types, encoding in _ENCODINGS:
        if isinstance(_stored_type(column), types):
            return encoding
    raise TypeError(f"{column} has a type that backups have no form for")


def _stored_type(column: Column[Any]) -> Any:
    """The type in the database, without the decorator that converts its values."""
    stored: Any = column.type
    is_wrapped = isinstance(stored, TypeDecorator) and not isinstance(stored, Timestamp)
    return stored.impl_instance if is_wrapped else stored


def _raw_column(column: Column[Any], dialect: str) -> ColumnElement[Any]:
    stored = _stored_type(column)
    if isinstance(stored, Timestamp):
        return type_coerce(column, ApiTimestamp())
    if isinstance(stored, JSON):
        # As text, NULL and the null of JSON differ.
        return cast(column, Text) if dialect == "postgresql" else type_coerce(column, Text)
    return type_coerce(column, stored)


def _sortable_column(column: Column[Any], dialect: str) -> ColumnElement[Any]:
    is_text = isinstance(_stored_type(column), String)
    return column.collate("C") if is_text and dialect == "postgresql" else column
