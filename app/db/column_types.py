"""The base of all tables: names of constraints, and the column types both databases agree on."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ColumnElement,
    DateTime,
    ForeignKey,
    Index,
    Label,
    LargeBinary,
    MetaData,
    String,
    Text,
    column,
    text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute, MappedColumn, mapped_column
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, TypeDecorator

from app.values.clock import format_time, parse_time

# Constraints have names for migrations, and to tell violations apart.
metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


class Base(DeclarativeBase):
    """The base class of all models."""

    metadata = metadata


def one_of_words(column: str, words: Sequence[str]) -> CheckConstraint:
    """Return the constraint that a column has one of these words."""
    return CheckConstraint(f"{column} IN ({', '.join(map(repr, words))})", name=column)


def partial_index(name: str | None, *columns: str, where: str, unique: bool = False) -> Index:
    """Return an index of the rows for which a condition holds. It is SQL of both databases."""
    condition = text(where)
    return Index(name, *columns, unique=unique, postgresql_where=condition, sqlite_where=condition)


def smallest_null(name: str) -> ColumnElement[Any]:
    """Return a column of an index with nulls first, as is SQLite's order but not PostgreSQL's."""
    return column(name).nulls_first()


def search_indexes(name: str, owner: str, *box: str) -> tuple[Index, Index]:
    """Return the text and box indexes of a table on PostgreSQL, by the owners of its rows. On
    SQLite, the migrations make tables of the same names.

    Args:
        box: the columns west, south, east, north.
    """
    text_key = text(f"canopy_grams({owner}, search_text)")
    box_key = text(f"canopy_box({', '.join((owner, *box))})")
    options: dict[str, Any] = {"postgresql_with": {"fastupdate": "off"}}
    return (
        Index(f"{name}_text", text_key, postgresql_using="gin", **options),
        Index(f"{name}_box", box_key, postgresql_using="gist"),
    )


# PostgreSQL compares text by the collation of the database; "C" is SQLite's order (by code point),
# so that pages and ties fall the same way on both.
Key = String(40).with_variant(String(40, collation="C"), "postgresql")
Hash = String(64).with_variant(String(64, collation="C"), "postgresql")  # SHA-256, hexadecimal
SortableText = Text().with_variant(Text(collation="C"), "postgresql")


def foreign_key(target: str, **options: Any) -> MappedColumn[Any]:
    """Return a column with the key of a row of another table, with which its rows are deleted."""
    return mapped_column(Key, ForeignKey(target, ondelete="CASCADE"), **options)


class Compressed(TypeDecorator[bytes]):
    """Bytes compressed by zlib at its fastest: boundaries take a third of the space."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        return None if value is None else zlib.compress(value, 1)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        return None if value is None else zlib.decompress(value)


class Timestamp(TypeDecorator[datetime]):
    """A moment in UTC, to the millisecond.

    ``timestamptz`` on PostgreSQL. On SQLite, which has no such type, it is text in the API's
    format, whose order is that of time.
    """

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(24))
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None or dialect.name != "sqlite":
            return value
        return format_time(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if dialect.name == "sqlite":
            return parse_time(value)
        moment: datetime = value
        return moment.astimezone(UTC)


class ApiTimestamp(Timestamp):
    """A moment that is read as text in the API's format. SQLite stores that text."""

    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        if dialect.name == "sqlite":
            return None
        return lambda value: None if value is None else format_time(value)


class RawTimestamp(FunctionElement[str]):
    """A moment as text in the API's format. SQLite stores that text; PostgreSQL formats it, which
    is faster than doing it here for every row of a list."""

    inherit_cache = True
    type = String()


@compiles(RawTimestamp)
def _kept_text(element: RawTimestamp, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(RawTimestamp, "postgresql")
def _written_text(element: RawTimestamp, compiler: SQLCompiler, **options: Any) -> str:
    moment = compiler.process(element.clauses, **options)
    return f"to_char({moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"


class byte_length(FunctionElement[int]):
    """The number of bytes of a text in UTF-8."""

    inherit_cache = True
    type = BigInteger()


@compiles(byte_length)
def _length_of_blob(element: byte_length, compiler: SQLCompiler, **options: Any) -> str:
    return f"length(CAST({compiler.process(element.clauses, **options)} AS BLOB))"


@compiles(byte_length, "postgresql")
def _octet_length(element: byte_length, compiler: SQLCompiler, **options: Any) -> str:
    return f"octet_length({compiler.process(element.clauses, **options)})"


class stored_bytes(FunctionElement[bytes]):
    """The bytes of a text, which are not UTF-8 in every SQLite file."""

    inherit_cache = True
    type = NullType()  # type: ignore[assignment]  # drivers return bytes


@compiles(stored_bytes)
def _as_blob(element: stored_bytes, compiler: SQLCompiler, **options: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **options)} AS BLOB)"


@compiles(stored_bytes, "postgresql")
def _as_bytea(element: stored_bytes, compiler: SQLCompiler, **options: Any) -> str:
    return f"convert_to({compiler.process(element.clauses, **options)}, 'UTF8')"


def api_column(column: InstrumentedAttribute[Any] | Label[Any]) -> ColumnElement[Any]:
    """Return the column of an attribute, labeled for a statement that reads plain columns."""
    source = column.expression
    if isinstance(source.type, Timestamp):
        return RawTimestamp(source).label(column.key)
    return source.label(column.key)
