"""The kinds of fields, with their properties for the API, filters, files, forms and events.

The tables for marshmallow and SQLAlchemy are in
``app.values.kind_schemas``, ``app.api.resource_schemas`` and ``app.lists.conditions``.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal

from app.policy.request_limits import ASSET_STATUSES, ASSET_TYPES

ColumnType = Literal["text", "integer", "number", "boolean", "time", "json"]
Compared = Literal["text", "number", "boolean", "time"]

_YES: Final = ("true", "yes", "1")
_NO: Final = ("false", "no", "0")


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of field.

    Attributes:
        schema: the JSON Schema of a value, as events and ``/ogc`` show it.
        compared_as: how filters compare values; None: they do not.
        column: the type of its column in exported tables.
        column_bytes: bytes of the longest text in that column, if the field has no length.
        read: converts the text of a form or a cell of a file to a value; None: no text can be
            converted. Raises ValueError, whose message says what to write.
        factor: the factor from a value to its stored number.
        is_json: it is stored as JSON text.
    """

    name: str
    schema: Mapping[str, Any]
    compared_as: Compared | None = None
    column: ColumnType = "text"
    column_bytes: int = 50
    read: Callable[[Any], Any] | None = None
    factor: int = 1
    is_json: bool = False


DOCUMENTED_WORDS: Final = frozenset(
    word.replace("_", " ") for word in (*ASSET_TYPES, *ASSET_STATUSES)
)


def _read_text(cell: Any) -> Any:
    """The text of a cell, with the ends of its lines as line feeds."""
    if isinstance(cell, str):
        return cell.replace("\r\n", "\n").replace("\r", "\n")
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return number_text(cell) if is_number else cell


def number_text(value: object) -> str:
    """The text of a value; of a whole number, without a fraction: 1001.0 is 1001."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return str(int(value)) if is_whole else str(value)  # type: ignore[call-overload]


def _read_word(cell: Any) -> Any:
    """A text in lower case; a documented word may have spaces."""
    text = _read_text(cell)
    if not isinstance(text, str):
        return text
    word = lower_case(text.strip())
    return word.replace(" ", "_") if word in DOCUMENTED_WORDS else word


def lower_case(text: str) -> str:
    """Return a text in lower case, composed (NFC)."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


def _read_integer(cell: Any) -> Any:
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, str):
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", cell.strip()):
            raise ValueError("Must be a whole number, such as 1998.")
        return int(cell)
    return cell


def _read_number(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError("Must be a number, such as 12.5.")
    return number


def _read_boolean(cell: Any) -> Any:
    word = str(cell).strip().lower()
    if word not in (*_YES, *_NO):
        raise ValueError("Must be true or false.")
    return word in _YES


def _read_date(cell: Any) -> Any:
    """A file may have a time in a column of dates."""
    return read_date(re.sub(r"[T ][0-9:.]+Z?$", "", cell.strip()) if isinstance(cell, str) else "")


def read_date(text: str) -> str:
    """Return the text of a date such as ``2026-01-31``. Raises ValueError for any other form."""
    with suppress(ValueError):
        if date.fromisoformat(text).isoformat() == text:
            return text
    raise ValueError("Must be a date, such as 2026-01-31.")


_STRING: Final = {"type": "string"}

ID: Final = Kind("id", _STRING, "text")  # this or another resource
TEXT: Final = Kind("text", _STRING, "text", read=_read_text)
CHOICE: Final = Kind("choice", _STRING, "text")  # one of a few words
KEYWORD: Final = Kind("keyword", _STRING, "text", read=_read_word)  # a word of an open vocabulary
COUNTRY: Final = Kind("country", {**_STRING, "pattern": "^[A-Z]{2}$"}, "text", column_bytes=2)
INTEGER: Final = Kind("integer", {"type": "integer"}, "number", "integer", 19, _read_integer)
NUMBER: Final = Kind("number", {"type": "number"}, "number", "number", read=_read_number)
BOOLEAN: Final = Kind("boolean", {"type": "boolean"}, "boolean", "boolean", read=_read_boolean)
DATE: Final = Kind("date", {**_STRING, "format": "date"}, "text", "text", 10, _read_date)
HECTARES: Final = Kind("hectares", {"type": "number"}, "number", "number", factor=10_000)
TIME: Final = Kind("time", {**_STRING, "format": "date-time"}, "time", "time", 24)
BOUNDARY: Final = Kind("boundary", {"type": "object"}, is_json=True)  # a Polygon or MultiPolygon
POINT: Final = Kind("point", {"type": "object"}, is_json=True)  # a GeoJSON Point
OBJECT: Final = Kind("object", {"type": "object"}, column="json", is_json=True)  # the client's own
