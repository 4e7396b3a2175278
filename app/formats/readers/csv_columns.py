"""The columns of a CSV file: their names and the types of their values."""

from __future__ import annotations

import re
from typing import Any, Final

from app.formats.formulas import unguard_formulas
from app.formats.readers.csv_rows import Row
from app.formats.readers.layer_limits import Columns, unique_name

_NUMBER: Final = re.compile(
    r"-?(?:0|[1-9][0-9]*)(?:(?P<point>[.,])(?P<decimals>[0-9]+))?(?P<exponent>[eE][+-][0-9]{1,3})?"
)
_FLOAT_DIGITS: Final = 15  # a float keeps this many
_BOOLEANS: Final = {"true": True, "false": False}


def column_names(header: Row) -> tuple[str, ...]:
    """A unique name for each field of the header, without line breaks.

    Raises:
        FileInvalid: there are too many, or one is too long.
    """
    columns = Columns()
    for number, field in enumerate(header, start=1):
        name = " ".join(unguard_formulas(field).split()) or f"column {number}"
        columns.add(unique_name(name, columns.names()))
    return columns.names()


class ColumnType:
    """The type of the values of a column.

    They are numbers if no two different texts would become the same number: not 007, and not 1.10
    beside 1.1. They are booleans if all are ``true`` or ``false``, else texts.
    """

    def __init__(self, *, decimal_comma: bool) -> None:
        self._points = {".", ","} if decimal_comma else {"."}  # that are left
        self._is_number = self._is_boolean = True
        self._decimal_counts: set[int] = set()
        self._has_padding = self._has_whole = False  # such as 1.50, and 1.0

    def add(self, text: str) -> None:
        """Take a value into account, unless it is blank."""
        if not (self._is_number or self._is_boolean) or not text.strip():
            return
        self._is_boolean = self._is_boolean and text in _BOOLEANS
        number = _NUMBER.fullmatch(text.strip())
        self._is_number = self._is_number and number is not None and self._is_distinct(number)

    def _is_distinct(self, number: re.Match[str]) -> bool:
        decimals = number["decimals"] or ""
        written = number[0].rstrip("0") if decimals else number[0]
        if number["point"]:
            self._points &= {number["point"]}
        if not number["exponent"]:
            self._decimal_counts.add(len(decimals))
            self._has_whole = self._has_whole or decimals == "0"
            self._has_padding = self._has_padding or (decimals != "0" and decimals.endswith("0"))
        return (
            bool(self._points)
            and sum(map(str.isdigit, written)) <= _FLOAT_DIGITS
            and number[0] != "-0"
            and not (self._has_whole and 0 in self._decimal_counts)
            and not (self._has_padding and len(self._decimal_counts) > 1)
        )

    def value(self, text: str) -> Any:
        """The value of a text, or None when it is blank."""
        if not text.strip():
            return None
        if self._is_boolean:
            return _BOOLEANS.get(text, text)
        if self._is_number and (number := _NUMBER.fullmatch(text.strip())):
            is_integer = not (number["point"] or number["exponent"])
            return int(number[0]) if is_integer else float(number[0].replace(",", "."))
        return unguard_formulas(text)
