"""The rows of a CSV file, with its encoding and delimiter detected."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, TextIO, TypeAlias

from app.formats.encodings import decoder_of
from app.formats.features import AS_IT_SAYS, AsRead, FileInvalid
from app.formats.readers.layer_limits import memory_of
from app.formats.readers.text_files import find_encoding
from app.policy.files import GEOMETRY_BYTES

Row: TypeAlias = list[str]

_DELIMITERS: Final = (",", ";", "\t", "|")
_SAMPLE_ROWS: Final = 50  # to choose the delimiter
_SAMPLE_BYTES: Final = 1024 * 1024
REGULAR: Final = 0.75  # the share of rows with as many fields as the header, for text to be CSV
_PIECE: Final = 1024 * 1024  # characters of a line that are read at a time
_DELIMITERS_IN_ROW: Final = 1_000_000  # mostly of a geometry; each field takes memory
_SEPARATOR: Final = re.compile(r'"?sep=([,;\t|])"?\s*', re.IGNORECASE)  # a first line for Excel


class CsvRows:
    """A CSV file. ``regularity`` is the share of its first rows that have as many fields as the
    header."""

    def __init__(self, path: Path, how: AsRead = AS_IT_SAYS) -> None:
        """Raise FileInvalid when the file is not text."""
        csv.field_size_limit(GEOMETRY_BYTES)  # for the whole process; 128 KiB by default
        self._path = path
        self.encoding = find_encoding(path, how)
        is_known = not self.encoding.is_guessed and how.encoding is None
        self._errors = "strict" if is_known else "replace"
        named = self._named_delimiter()
        self._first_line = 1 if named else 0
        delimiters = [named] if named else _DELIMITERS
        guesses = [self._guess(delimiter) for delimiter in delimiters]
        _, self.regularity, _, self.delimiter = max(guesses, key=lambda guess: guess[:3])

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        """Yield the rows that are not empty, with their numbers in a spreadsheet. The first is the
        header.

        Raises:
            FileInvalid: a row cannot be read.
        """
        return self._rows(self.delimiter, GEOMETRY_BYTES)

    def _named_delimiter(self) -> str | None:
        with self._open("replace") as file:
            line = _SEPARATOR.fullmatch(file.readline(20))
        return line[1] if line else None

    def _guess(self, delimiter: str) -> tuple[bool, float, int, str]:
        """Try a delimiter. Returns (True if it separates the header, the share of rows with as
        many fields, the number of fields, the delimiter)."""
        width, others, regular = 0, 0, 0
        widths = set[int]()
        with suppress(FileInvalid):
            for _, row in islice(self._rows(delimiter, _SAMPLE_BYTES), 1 + _SAMPLE_ROWS):
                if not width:
                    width = len(without_empty_end(row))
                    continue
                others += 1
                widths.add(len(row))
                regular += len(row) >= width and not any(row[width:])
        share = regular / others if others else 1
        if others > 1 and are_cut_off(widths, width):
            share = REGULAR
        return width > 1, share, width, delimiter

    def _rows(self, delimiter: str, row_bytes: int) -> Iterator[tuple[int, Row]]:
        with self._open(self._errors) as file:
            lines = _Lines(file, row_bytes, delimiter)
            rows = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
            number = 0
            while True:
                lines.begin_row()
                try:
                    row = next(rows)
                except StopIteration:
                    return
                except csv.Error as error:
                    raise lines.fault(_csv_error_text(error)) from None
                number += 1
                if number > self._first_line and any(map(str.strip, row)):
                    yield number, row

    def _open(self, errors: str) -> TextIO:
        encoding = decoder_of(self.encoding.name)
        return self._path.open(encoding=encoding, errors=errors, newline="")


def without_empty_end(header: Row) -> Row:
    """The header without empty fields at its end."""
    while header and not header[-1].strip():
        header = header[:-1]
    return header


def are_cut_off(widths: set[int], header: int) -> bool:
    """True if all rows have the same number of fields, somewhat fewer than the header: some
    programs leave out the last ones if they are empty.

    Args:
        widths: the numbers of fields of all rows.
    """
    return len(widths) == 1 and max(2, header / 2) <= min(widths) < header


class _Lines:
    """The lines of a file. The lines of one row take at most ``row_bytes`` of memory together."""

    def __init__(self, file: TextIO, row_bytes: int, delimiter: str) -> None:
        self._file = file
        self._row_bytes = row_bytes
        self._delimiter = delimiter
        self._number = 0
        self.begin_row()

    def begin_row(self) -> None:
        self._first_line = self._number + 1
        self._bytes = self._delimiters = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        pieces = [self._read()]
        while len(pieces[-1]) == _PIECE and pieces[-1][-1] != "\n":
            pieces.append(self._read())
        if not pieces[0]:
            raise StopIteration
        self._number += 1
        return "".join(pieces)

    def _read(self) -> str:
        """Read the rest of the line, or a piece of it."""
        try:
            piece = self._file.readline(_PIECE)
        except UnicodeDecodeError:
            raise self.fault("is not UTF-16, as the file says. Save it as UTF-8.") from None
        self._check(piece)
        return piece

    def _check(self, piece: str) -> None:
        self._bytes += memory_of(piece)
        self._delimiters += piece.count(self._delimiter)
        if self._bytes > self._row_bytes:
            size = self._row_bytes // 2**20
            raise self.fault(f"is longer than {size} MiB. Perhaps a quote is not closed.")
        if self._delimiters > _DELIMITERS_IN_ROW:
            raise self.fault(f"has more than {_DELIMITERS_IN_ROW:,} fields or positions.")
        if "\0" in piece:
            raise self.fault("has a null character. Save the file as CSV in UTF-8.")

    def fault(self, message: str) -> FileInvalid:
        return FileInvalid(
            f"The row that begins in line {self._first_line:,} of the file {message}"
        )


def _csv_error_text(error: csv.Error) -> str:
    if "unexpected end" in str(error):
        return "has a quote that is not closed."
    if "expected after" in str(error):
        return 'has text after a closing quote. Write a quote inside a value twice: "".'
    return f"cannot be read: {error}."
