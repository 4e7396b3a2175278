"""The columns of a CSV file: their names and the types of their values."""

from __future__ import annotations

import re
from typing import Any, Final

from app.formats.formulas import unguard
from app.formats.readers.csv_rows import Row
from app.formats.readers.layer_limits import Columns, unique_name

_NUMBER: Final = re.compile(
    r"-?(?:0|[1-9][0-9]*)(?:(?P<point>[.,])(?P<decimals>[0-9]+))?(?P<exponent>[eE][+-][0-9]{1,3})?"
)
_DIGITS: Final = 15  # that a float surely keeps
_BOOLEANS: Final = {"true": True, "false": False}


def column_names(header: Row) -> tuple[str, ...]:
    """A unique name for each field of the header, without line breaks.

    Raises:
        FileInvalid: there are too many, or one is too long.
    """
    columns = Columns()
    for number, field in enumerate(header, start=1):
        columns.add(
            unique_name(" ".join(unguard(field).split()) or f"column {number}", columns.names())
        )
    return columns.names()


class ColumnType:
    """The type of the values of a column.

    They are numbers when no two different texts would become the same number: neither 007 nor
    1.10 beside 1.1 are. They are booleans when all are ``true`` or ``false``, else texts.
    """

    def __init__(self, *, decimal_comma: bool) -> None:
        self._points = {None, ".", ","} if decimal_comma else {None, "."}
        self._is_number = self._is_boolean = True
        self._seen: set[str | None] = set()  # decimal points
        self._lengths: set[int] = set()  # of decimals
        self._has_padding = self._has_whole = False  # such as 1.50, and 1.0

    def add(self, text: str) -> None:
        """Take a value into account, unless it is blank."""
        if not (self._is_number or self._is_boolean) or not text.strip():
            return
        self._is_boolean = self._is_boolean and text in _BOOLEANS
        found = _NUMBER.fullmatch(text.strip())
        self._is_number = self._is_number and found is not None and self._is_distinct(found)

    def _is_distinct(self, found: re.Match[str]) -> bool:
        decimals = found["decimals"] or ""
        self._seen.add(found["point"])
        if not found["exponent"]:
            self._lengths.add(len(decimals))
            self._has_whole = self._has_whole or decimals == "0"
            self._has_padding = self._has_padding or (decimals != "0" and decimals.endswith("0"))
        return (
            self._seen <= self._points
            and len(self._seen - {None}) < 2
            and sum(map(str.isdigit, found[0])) <= _DIGITS
            and found[0] != "-0"
            and not (self._has_whole and 0 in self._lengths)
            and not (self._has_padding and len(self._lengths) > 1)
        )

    def value(self, text: str) -> Any:
        """The value of a text, or None when it is blank."""
        if not text.strip():
            return None
        if self._is_boolean:
            return _BOOLEANS.get(text, text)
        if self._is_number and (found := _NUMBER.fullmatch(text.strip())):
            is_integer = not (found["point"] or found["exponent"])
            return int(found[0]) if is_integer else float(found[0].replace(",", "."))
        return unguard(text)
