"""Tables of shapefiles: their columns, and values as JSON has them."""

from __future__ import annotations

import io
import struct
from typing import Any

import pytest

from app.formats.features import FileInvalid
from app.formats.readers.dbf import DbfTable
from app.policy.files import COLUMNS
from tests.formats.readers.shapefiles import Field, dbf
from tests.processor_time import takes_at_most


def table(content: bytes, code_page: str = "") -> DbfTable:
    return DbfTable(io.BytesIO(content), "forest.dbf", 10_000, code_page)


def record(opened: DbfTable) -> Any:
    return opened.read_record(0, opened.columns)


def value(field: Field, text: bytes) -> Any:
    (found,) = record(table(dbf([field], b" " + text.ljust(field[2])))).values()
    return found


def test_values() -> None:
    for kind, decimals, text, expected in (
        ("C", 0, b"Oak  ", "Oak"),
        ("N", 15, b"1001.000000000000000", 1001.0),
        ("N", 1, b"123456789012345678.0", 123456789012345678),
        ("C", 0, b"  Oak", "  Oak"),
        ("C", 0, b"Oak\0x", "Oak"),
        ("C", 0, b"", None),
        ("C", 0, b"007", "007"),
        ("N", 0, b"      7", 7),
        ("N", 0, b"-7", -7),
        ("N", 0, b"9007199254740993", 9007199254740993),
        ("N", 0, b"99999999999999999999", "99999999999999999999"),
        ("N", 0, b"7.5", 7.5),
        ("N", 2, b"7", 7.0),
        ("N", 2, b"7,25", 7.25),
        ("F", 0, b"1.5e+003", 1500.0),
        ("N", 2, b"1e999", None),
        ("N", 2, b"nan", None),
        ("N", 0, b"1_000", None),
        ("N", 0, b"****", None),
        ("N", 0, b"\0\0\0", None),
        ("N", 0, b"", None),
        ("D", 0, b"20240229", "2024-02-29"),
        ("D", 0, b"20240230", "20240230"),
        ("D", 0, b"2_240101", "2_240101"),
        ("D", 0, b"00000000", None),
        ("D", 0, b"", None),
        ("L", 0, b"T", True),
        ("L", 0, b"y", True),
        ("L", 0, b"F", False),
        ("L", 0, b"?", None),
        ("L", 0, b"", None),
    ):
        found = value((b"a", kind, 20, decimals), text)
        assert found == expected, text
        assert type(found) is type(expected), text


def test_columns_of_other_types_are_left_out() -> None:
    fields = [(b"a", "C", 2, 0), (b"memo", "M", 10, 0), (b"when", "@", 8, 0), (b"b", "N", 2, 0)]
    opened = table(dbf(fields, b" x 0000000001\0\0\0\0\0\0\0\0 7"))
    assert (opened.columns, opened.left_out) == (("a", "b"), ("memo", "when"))
    assert record(opened) == {"a": "x", "b": 7}


def test_each_column_has_a_name_of_its_own() -> None:
    fields: list[Field] = [
        (b"a", "C", 1, 0),
        (b"a", "C", 1, 0),
        (b"", "C", 1, 0),
        (b"a (2)", "C", 1, 0),
    ]
    opened = table(dbf(fields, b" 1234"))
    assert record(opened) == {"a": "1", "a (2)": "2", "column": "3", "a (2) (2)": "4"}


def test_names_that_are_alike_are_numbered_in_little_time() -> None:
    few, many = (dbf([(b"a", "C", 0, 0)] * number, b" ") for number in (COLUMNS // 10, COLUMNS))
    assert takes_at_most(150, lambda: table(many), lambda: table(few))


def test_half_a_character_at_the_end_of_a_column() -> None:
    assert value((b"a", "C", 4, 0), "Föö".encode()[:4]) == "Fö"


def test_names_of_columns_have_the_encoding_of_the_table() -> None:
    content = dbf([("höhe".encode("cp1252"), "C", 2, 0)], b" \xe4x")
    assert record(table(content)) == {"höhe": "äx"}


def test_a_table_that_is_incomplete() -> None:
    for content in (
        b"",
        b"\x03" * 31,
        dbf([(b"a", "C", 5, 0)], b" 12345", count=2),
        dbf([(b"a", "C", 5, 0)], b" 12345", count=2**32 - 1),
        dbf([(b"a", "C", 5, 0)], b" 12345")[:-3],
        struct.pack("<B3xIHH20x", 3, 1, 65_535, 5) + b"\r",
    ):
        with pytest.raises(FileInvalid, match=r'The table "forest.dbf" is incomplete\. Export'):
            table(content)


def test_columns_that_are_wider_than_a_record() -> None:
    for size in (0, 3):
        content = bytearray(dbf([(b"a", "C", 5, 0)], b" 12345"))
        content[10:12] = struct.pack("<H", size)
        with pytest.raises(FileInvalid, match="is damaged"):
            table(bytes(content))


def test_too_many_columns() -> None:
    fields: list[Field] = [(b"c%d" % n, "C", 1, 0) for n in range(COLUMNS + 1)]
    with pytest.raises(FileInvalid, match="more than 500 columns"):  # before its records are read
        table(dbf(fields, b" " * (COLUMNS + 2)))


def test_columns_without_a_width_take_no_time() -> None:
    few, many = (dbf([(b"a", "C", 0, 0)] * number, *[b"\x80"] * 5000) for number in (1, 100))
    assert takes_at_most(20, lambda: table(many), lambda: table(few))
