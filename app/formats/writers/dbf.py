"""dBASE III files: the attributes of a shapefile."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import IO, Any, Final, NamedTuple

from app.formats.writers.columns import Column, as_text, cut_text, unique_names
from app.policy.files import SHAPEFILE_TEXT_BYTES
from app.values import clock
from app.values.strict_json import dumps

NAME_BYTES: Final = 10
_HEADER: Final = struct.Struct("<4BIHH20x")
_FIELD: Final = struct.Struct("<11sc4xBB14x")
_VERSION: Final = 3
_END: Final = b"\x1a"
_NUMBER_BYTES: Final = 24  # the longest float with all its digits
_DECIMALS: Final = 15  # as GDAL writes; each number has as many as it needs
_INTEGER_DIGITS: Final = 18  # GDAL reads longer ones as floats, which changes them


class DbfColumn(NamedTuple):
    """A column of the file: its name, its dBASE type, its width in bytes."""

    name: str
    type: bytes
    width: int
    decimals: int = 0


class DbfWriter:
    """Writes rows to a file. ``cut`` has the number of values of each column that did not fit:
    texts are cut between two characters, numbers left out."""

    def __init__(self, file: IO[bytes], columns: Sequence[DbfColumn]) -> None:
        self._file, self._columns = file, columns
        self._rows = 0
        self.cut = [0] * len(columns)
        self._write_header()

    @property
    def size(self) -> int:
        """The size of the file so far, in bytes."""
        return self._file.tell()

    def add(self, values: Sequence[Any]) -> None:
        """Write a row."""
        cells = [
            self._cell(index, column, value)
            for index, (column, value) in enumerate(zip(self._columns, values, strict=True))
        ]
        self._file.write(b" " + b"".join(cells))
        self._rows += 1

    def finish(self) -> None:
        """Write the end, and the number of rows into the header."""
        self._file.write(_END)
        self._file.seek(0)
        self._write_header()

    def _write_header(self) -> None:
        today, columns = clock.now(), self._columns
        row = 1 + sum(column.width for column in columns)
        head = _HEADER.size + _FIELD.size * len(columns) + 1
        date = (today.year - 1900, today.month, today.day)
        self._file.write(_HEADER.pack(_VERSION, *date, self._rows, head, row))
        for column in columns:
            name = column.name.encode()
            self._file.write(_FIELD.pack(name, column.type, column.width, column.decimals))
        self._file.write(b"\r")

    def _cell(self, index: int, column: DbfColumn, value: Any) -> bytes:
        if column.type == b"L":
            return b"?" if value is None else (b"T" if value else b"F")
        if value is None:
            return b" " * column.width
        if column.type == b"C":
            text = as_text(value)
            whole, cell = text.encode(), cut_text(text, column.width).encode()
        else:
            whole = dumps(value)
            cell = whole if len(whole) <= column.width else b""
        self.cut[index] += len(cell) < len(whole)
        return bytes(cell.ljust(column.width) if column.type == b"C" else cell.rjust(column.width))


def dbf_columns(columns: Sequence[Column]) -> list[DbfColumn]:
    """The columns as dBASE can have them, in the same order."""
    names = unique_names((column.name for column in columns), most_bytes=NAME_BYTES)
    return [_dbf_column(name, column) for name, column in zip(names, columns, strict=True)]


def _dbf_column(name: str, column: Column) -> DbfColumn:
    if column.type == "boolean":
        return DbfColumn(name, b"L", 1)
    if column.type == "integer" and column.longest <= _INTEGER_DIGITS:
        return DbfColumn(name, b"N", max(column.longest, 1))
    if column.type == "number":
        return DbfColumn(name, b"F", _NUMBER_BYTES, _DECIMALS)
    return DbfColumn(name, b"C", min(max(column.longest, 1), SHAPEFILE_TEXT_BYTES))
