"""Rows as lines: equal rows are equal lines, and lines become the same rows again."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    String,
    Table,
    TypeDecorator,
)
from sqlalchemy.dialects import postgresql

from app.db.column_types import Timestamp
from app.maintenance.table_codec import TableCodec, table_codecs


class Wrapped(TypeDecorator[str]):
    """What the application sees is not what is kept."""

    impl = String
    cache_ok = True


TABLE = Table(
    "samples",
    MetaData(),
    Column("id", String(40), primary_key=True),
    Column("number", Integer),
    Column("flag", Boolean),
    Column("size", Double),
    Column("at", Timestamp),
    Column("document", JSON),
    Column("content", LargeBinary),
    Column("wrapped", Wrapped),
    Column("other_time", DateTime(timezone=True)),
)
LAYOUT = TableCodec(TABLE)
EMPTY: dict[str, Any] = dict.fromkeys(LAYOUT.columns)


def line(**values: Any) -> bytes:
    return LAYOUT.line(list({**EMPTY, "id": "a", **values}.values()))


def value(name: str, kept: Any) -> Any:
    """What becomes of a value that is written and read again."""
    return LAYOUT.row(line(**{name: kept}))[LAYOUT.columns.index(name)]


def test_a_value_comes_back_as_it_was(subtests: pytest.Subtests) -> None:
    for name, kept in (
        ("id", 'Żółw \U0001f332 \u2028 \\ " \n'),
        ("id", ""),
        ("number", -(2**63)),
        ("number", 2**63 - 1),
        ("flag", True),
        ("flag", False),
        ("size", 0.1 + 0.2),
        ("size", 5e-324),
        ("size", 1.7976931348623157e308),
        ("size", math.inf),
        ("content", bytes(range(256))),
        ("content", b""),
        ("wrapped", "as it is kept"),
        ("document", "null"),
        ("at", "2026-01-02T03:04:05.678Z"),
        *((name, None) for name in LAYOUT.columns),
    ):
        with subtests.test(f"{name} {kept!r}"):
            again = value(name, kept)
            assert again == kept
            assert type(again) is type(kept)


def test_a_moment_has_one_form(subtests: pytest.Subtests) -> None:
    for kept in (
        "2026-01-02T03:04:05.678Z",
        "2026-01-02 03:04:05.678",  # as SQLite's own functions write it
        "2026-01-02T04:04:05.678999+01:00",
        datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC),
        datetime(2026, 1, 2, 4, 4, 5, 678_999, timezone(timedelta(hours=1))),
    ):
        for name in ("at", "other_time"):
            with subtests.test(f"{name} {kept}"):
                assert value(name, kept) == "2026-01-02T03:04:05.678Z"


def test_documents_with_the_same_content_are_equal() -> None:
    one = line(document='{"b": [1.0, {"z": null, "ü": 1e5}], "a": 1}')
    other = line(document='{"a":1,"b":[1.0,{"\\u00fc":100000.0,"z":null}]}')
    assert one == other
    assert one != line(document='{"a":1,"b":[1.0,{"\\u00fc":100000.0,"z":0}]}')


def test_a_zero_has_no_sign() -> None:
    assert line(size=-0.0) == line(size=0.0)


def test_what_is_no_line_is_refused() -> None:
    for text in (b"[]", b"{}", b"3", b"", b"[1,2", b"\xff"):
        with pytest.raises(ValueError, match=r".*"):
            LAYOUT.row(text)


def test_a_type_without_a_form_is_refused() -> None:
    table = Table("odd", MetaData(), Column("id", Integer, primary_key=True), Column("x", Numeric))
    with pytest.raises(TypeError, match=r"odd\.x"):
        TableCodec(table)


def test_keys_sort_by_code_point_on_postgresql() -> None:
    """Whatever the collation of the database is."""
    statement = LAYOUT.select("postgresql").compile(dialect=postgresql.dialect())
    assert str(statement).endswith('ORDER BY samples.id COLLATE "C"')


def test_every_table_of_the_service_has_a_form_and_comes_after_its_parents() -> None:
    """On PostgreSQL a row cannot be written before the one that it refers to."""
    seen: set[str] = set()
    for codec in table_codecs():
        parents = {key.column.table.name for key in codec.table.foreign_keys}
        assert parents <= seen, f"{codec.name} refers to a table that comes later, or to itself"
        seen.add(codec.name)
    assert {"accounts", "projects", "events"} <= seen
