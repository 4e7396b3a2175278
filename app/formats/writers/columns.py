"""The columns of tables, and their types.

Features can have any properties, and a table has the same columns in every row. So all metadata is
read once before the rows, in constant memory: the number of columns is limited, and the other keys
go into one column of JSON, ``metadata``. So do values that do not fit the type of their column, as
somebody changed a record after its metadata was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from app.formats.writers.features import METADATA, Feature
from app.formats.writers.source import FeatureSource
from app.policy.fields import Field
from app.policy.files import COLUMN_KEY_LENGTH, COLUMNS_OUT
from app.policy.kinds import ColumnType
from app.values.strict_json import dumps

_EXACT: Final = 2**53  # up to which every integer is a float
_CHARACTER_BYTES: Final = 4  # in UTF-8, at most
_TYPES: Final[dict[type, ColumnType]] = {
    str: "text",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "json",
    dict: "json",
}


class Column(NamedTuple):
    """A column. ``longest`` is the number of bytes of its longest text, where that is known."""

    name: str
    type: ColumnType
    longest: int = 0


class Table:
    """The columns of a source: its fields, the keys of its metadata, and ``metadata`` at the end.

    ``rest`` is the length of the longest text in the last one; 0: no record needs it.
    """

    def __init__(self, source: FeatureSource) -> None:
        self._keys, self.rest = _survey_metadata(source)
        fields = [_field_column(field) for field in source.type.property_fields]
        self._fields = [column.name for column in fields]
        self.columns = [*fields, *self._keys, Column(METADATA, "json", self.rest)]

    def row(self, feature: Feature) -> list[Any]:
        """The values of a feature, in the order of the columns: text where their type is text, time
        or JSON, and None where there is none."""
        properties = dict(feature.properties)
        values = [properties.pop(name, None) for name in self._fields]
        for name, kind, _ in self._keys:
            value = properties.get(name)
            fitting = None if value is None else _fitted_value(value, kind)
            if fitting is not None:
                del properties[name]
            values.append(fitting)
        rest = {name: value for name, value in properties.items() if value is not None}
        values.append(dumps(rest).decode() if rest else None)
        return values


def as_text(value: Any) -> str:
    """A value of the metadata as text; any other type becomes JSON."""
    return value if isinstance(value, str) else dumps(value).decode()


def unique_names(
    names: Iterable[str], taken: Iterable[str] = (), most_bytes: int = 2**31
) -> list[str]:
    """The names, cut at the end, with a number behind those that are taken or differ in case
    only."""
    used, unique = {name.lower() for name in taken}, list[str]()
    for name in names:
        number, candidate = 1, cut_text(name, most_bytes).rstrip()
        while candidate.lower() in used:
            number += 1
            end = f"_{number}"
            candidate = cut_text(name, most_bytes - len(end)) + end
        used.add(candidate.lower())
        unique.append(candidate)
    return unique


def cut_text(text: str, most_bytes: int) -> str:
    """A text of at most ``most_bytes`` in UTF-8, without a partial character."""
    encoded = text.encode()
    return text if len(encoded) <= most_bytes else encoded[:most_bytes].decode(errors="ignore")


def _survey_metadata(source: FeatureSource) -> tuple[list[Column], int]:
    """Read all metadata. Returns columns for its keys, in the order in which they occur, and the
    bytes of the longest text with the other keys of a record."""
    types: dict[str, set[ColumnType]] = {}
    longest: Counter[str] = Counter()
    rest_bytes = 0
    for text in source.metadata():
        rest = {}
        for name, value in source.type.metadata_properties(text).items():
            if name not in types and len(types) < COLUMNS_OUT and _is_plain(name):
                types[name] = set()
            if name not in types:
                rest[name] = value
            elif value is not None:
                types[name].add(_TYPES[type(value)])
                longest[name] = max(longest[name], len(as_text(value).encode()))
        rest_bytes = max(rest_bytes, len(dumps(rest)) if rest else 0)
    return [Column(name, _common_type(types[name]), longest[name]) for name in types], rest_bytes


def _common_type(types: set[ColumnType]) -> ColumnType:
    if len(types) == 1:
        return next(iter(types))
    return "number" if types == {"integer", "number"} else "text"


def _is_plain(name: str) -> bool:
    """True if a name is short, printable and on one line, as a column's is."""
    return len(name) <= COLUMN_KEY_LENGTH and name.isprintable() and name == name.strip()


def _field_column(field: Field) -> Column:
    longest = _CHARACTER_BYTES * field.longest or field.kind.column_bytes
    return Column(field.name, field.kind.column, longest)


def _fitted_value(value: Any, kind: ColumnType) -> Any:
    """A value as one of the type; None when it is of another."""
    if kind == "text":
        return as_text(value)
    if kind == "number" and type(value) is int and abs(value) <= _EXACT:
        return float(value)
    if _TYPES[type(value)] != kind:
        return None
    return as_text(value) if kind == "json" else value
