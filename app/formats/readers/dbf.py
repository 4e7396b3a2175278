"""dBase tables, the attributes of a shapefile: their columns and records.

The types of dBase III are read: text, numbers, dates, logical values. Columns of other types are
left out.
"""

from __future__ import annotations

import codecs
import io
import re
import struct
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import date
from functools import lru_cache
from itertools import islice
from math import isfinite
from typing import Any, BinaryIO, Final, NamedTuple

from app.formats.encodings import TOKENS, decoded, decoder_of, encoding_name, tokens_of
from app.formats.features import AS_IT_SAYS, AsRead, FileInvalid
from app.formats.readers.layer_limits import quoted, too_many_columns, unique_name
from app.policy.files import COLUMNS

_HEADER: Final = struct.Struct("<4xIHH17xBxx")  # records, bytes of the header and of a record, code
_FIELD: Final = struct.Struct("<11sc4xBB14x")
_END_OF_FIELDS: Final = b"\r"
_DELETED: Final = b"*"
_TYPES: Final = frozenset("CNFDL")
_BLOCK_BYTES: Final = 1024 * 1024  # scanned at a time
_BIGGEST: Final = 2**63  # larger integers are kept as text

_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
_FLOAT_DIGITS: Final = 15
_NUMBER: Final = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)

# Code pages by the byte of the header that names them (the LDID), if it is unambiguous.
_CODE_PAGES: Final = {
    0x01: "cp437", 0x02: "cp850", 0x13: "cp932", 0x26: "cp866", 0x4D: "cp936", 0x4E: "cp949",
    0x4F: "cp950", 0x50: "cp874", 0x64: "cp852", 0x65: "cp866", 0x66: "cp865", 0x67: "cp861",
    0x6A: "cp737", 0x6B: "cp857", 0x78: "cp950", 0x79: "cp949", 0x7A: "cp936", 0x7B: "cp932",
    0x7C: "cp874", 0x7D: "cp1255", 0x7E: "cp1256", 0xC8: "cp1250", 0xC9: "cp1251", 0xCA: "cp1254",
    0xCB: "cp1253", 0xCC: "cp1257",
}  # fmt: skip
_UNICODE: Final = "utf-8"


class _Column(NamedTuple):
    name: bytes
    kind: str  # a letter
    start: int  # in a record
    end: int
    decimals: int


class DbfTable:
    """A table. ``columns`` are the names of the columns that are read, ``left_out`` of the others.
    ``deleted`` is the number of records that are marked as deleted. ``is_guessed``: the encoding of
    its texts is declared nowhere, or wrongly. ``unknown`` are words that are neither in the
    declared one nor in UTF-8."""

    def __init__(
        self, file: BinaryIO, name: str, shapes: int, code_page: str = "", how: AsRead = AS_IT_SAYS
    ) -> None:
        """Read the header, and all records once.

        Args:
            file: the table, which must stay open.
            name: the name of the file, for messages.
            shapes: the number of records that are needed.
            code_page: the content of its ``.cpg`` file; empty: there is none.

        Raises:
            FileInvalid: the table is damaged or incomplete, or has too many columns.
        """
        self._file, self._name = file, name
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            raise self._damaged("is incomplete")
        self.records, self._start, self._size, language = _HEADER.unpack(header)
        self._fields = list(islice(self._read_fields(), COLUMNS + 1))
        if len(self._fields) > COLUMNS:
            raise too_many_columns()
        length = file.seek(0, io.SEEK_END) - self._start
        if not self._size or self.records > length // self._size:
            raise self._damaged("is incomplete")
        declared = how.encoding or _code_page_encoding(code_page) or _code_page(language)
        candidates = [how.encoding] if how.encoding else _candidates(declared, how.guess)
        words = self._scan(min(shapes, self.records), candidates)
        self.encoding = candidates[0] if words else declared or how.guess
        self.is_guessed = bool(words) and self.encoding != declared
        self.unknown = list(words) if len(candidates) == 1 else []
        names: dict[str, _Column] = {}
        for field in self._fields:
            name = _decode_text(field.name, self.encoding).strip() or "column"
            names[unique_name(name, names)] = field
        self._read = {name: field for name, field in names.items() if field.kind in _TYPES}
        self.columns = tuple(self._read)
        self.left_out = tuple(name for name in names if name not in self._read)

    def read_record(self, record: int, columns: Collection[str]) -> dict[str, Any] | None:
        """The values of a record in these columns; None: it is marked as deleted."""
        self._file.seek(self._start + record * self._size)
        content = self._file.read(self._size)
        if content[:1] == _DELETED:
            return None
        return {
            name: _cell_value(content[start:end], kind, decimals, self.encoding)
            for name, (_, kind, start, end, decimals) in self._read.items()
            if name in columns
        }

    def _read_fields(self) -> Iterator[_Column]:
        """Yield the columns, up to the mark that ends their descriptions."""
        start = 1  # after the mark of deleted records
        while self._file.tell() + _FIELD.size < self._start:
            content = self._file.read(_FIELD.size)
            if content[:1] == _END_OF_FIELDS or len(content) < _FIELD.size:
                break
            name, kind, width, decimals = _FIELD.unpack(content)
            end = start + width
            yield _Column(name.partition(b"\0")[0], kind.decode("latin-1"), start, end, decimals)
            start = end
        if start > self._size:
            raise self._damaged("is damaged")

    def _scan(self, records: int, candidates: list[str]) -> dict[bytes, None]:
        """Count the deleted ones of the first records, and drop encodings in which a text is not
        valid, except the last. Returns words with letters that depend on the encoding."""
        words: dict[bytes, None] = {}
        self.deleted = 0
        self._file.seek(self._start)
        at_once = max(1, _BLOCK_BYTES // self._size)
        for first in range(0, records, at_once):
            block = self._file.read(self._size * min(at_once, records - first))
            self.deleted += block[:: self._size].count(_DELETED)
            for text in self._texts(block):
                while len(candidates) > 1 and decoded(text, candidates[0]) is None:
                    del candidates[0]
                if len(words) < TOKENS:
                    words |= dict.fromkeys(tokens_of(text))
                elif len(candidates) == 1:
                    break
        return words

    def _texts(self, block: bytes) -> Iterator[bytes]:
        """Yield the texts of records that have other characters than those of ASCII."""
        texts = [field for field in self._fields if field.kind == "C" and field.end > field.start]
        for start in range(0, 0 if block.isascii() else len(block), self._size):
            record = block[start : start + self._size]
            for field in () if record.isascii() else texts:
                text = record[field.start : field.end].rstrip(b" \0")
                if not text.isascii():
                    yield text

    def _damaged(self, fault: str) -> FileInvalid:
        return FileInvalid(f"The table {quoted(self._name)} {fault}. Export the shapefile again.")


def _code_page_encoding(code_page: str) -> str | None:
    """The encoding that a ``.cpg`` file names, or None if it is unknown."""
    if match := re.fullmatch(r"ldid/(\d{1,3})", code_page.strip().lower()):
        return _code_page(int(match[1]))
    return encoding_name(code_page)


def _code_page(number: int) -> str | None:
    return encoding_name(_CODE_PAGES.get(number, ""))


def _candidates(declared: str | None, guess: str) -> list[str]:
    """The encodings that texts may be in, the likeliest first. What is valid UTF-8 is in it, unless
    several bytes make a character in the declared one."""
    if declared is None:
        return [_UNICODE, guess]
    is_wide = not re.match("cp|iso|mac|koi", declared)
    return [declared, _UNICODE, guess] if is_wide else [_UNICODE, declared, guess]


@lru_cache(maxsize=2**14)  # many of the cells of a small file are alike
def _cell_value(raw: bytes, kind: str, decimals: int, encoding: str) -> Any:
    if kind == "C":
        return _decode_text(raw, encoding).partition("\0")[0].rstrip() or None
    text = raw.decode("latin-1").strip(" \0")
    if kind == "D":
        return _parse_date(text)
    return _parse_logical(text) if kind == "L" else _parse_number(text, decimals)


def _decode_text(raw: bytes, encoding: str) -> str:
    """A text, without a partial character at its end."""
    decoder = codecs.getincrementaldecoder(decoder_of(encoding))("replace")
    return decoder.decode(raw.rstrip(b" \0"))


def _parse_number(text: str, decimals: int) -> int | float | str | None:
    """A number; an integer that is too large for JSON readers stays a text."""
    whole, point, rest = text.partition(".")
    is_integer = not (decimals or point)
    is_long = len(whole) > _FLOAT_DIGITS and not rest.strip("0")  # a float would be rounded
    if (is_integer or is_long) and _INTEGER.fullmatch(whole):
        number = int(whole)
        return number if -_BIGGEST <= number < _BIGGEST else str(number)
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text.replace(",", "."))
    return value if isfinite(value) else None


def _parse_date(text: str) -> str | None:
    """A date in ISO 8601; any other text unchanged."""
    if re.fullmatch(r"\d{8}", text, re.ASCII):
        with suppress(ValueError):
            return date.fromisoformat(text).isoformat()
    return text if text.strip("0") else None


def _parse_logical(text: str) -> bool | None:
    return {"T": True, "Y": True, "1": True, "F": False, "N": False, "0": False}.get(text.upper())
