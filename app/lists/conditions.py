"""The filters of ``app.lists.cql`` as conditions on the columns of a table.

SQL cannot tell if a boundary intersects a geometry. Rows whose boxes touch the geometry without
intersecting it are found first, and excluded by id (``app.lists.intersecting``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Double,
    String,
    and_,
    bindparam,
    false,
    not_,
    or_,
    true,
)
from sqlalchemy.types import NullType, TypeEngine

from app.auth.tenant import columns_of
from app.db.column_types import Timestamp
from app.db.search_index import is_among_ids
from app.geometry import Bounds
from app.geometry.shapes import QueryShape
from app.lists.cql.nodes import (
    And,
    Comparison,
    Constant,
    HasMetadata,
    In,
    Intersects,
    IsImported,
    IsNull,
    Like,
    Node,
    Not,
    Operator,
    Or,
    Value,
    ValueKind,
)
from app.lists.metadata import metadata_test, metadata_values
from app.lists.query import SearchedTable
from app.models import ImportedRecord
from app.policy.fields import Field
from app.policy.kinds import ID, KEYWORD, lower_case

GEOMETRY: Final = "geometry"  # the name of a project's boundary and of an asset's location

_TURNS: Final = (-360.0, 0.0, 360.0)
_TYPES: Final[dict[ValueKind, type[TypeEngine[Any]]]] = {
    "text": String, "number": Double, "boolean": Boolean, "time": Timestamp,
}  # fmt: skip
OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le,
    ">=": operator.ge,
}  # fmt: skip


def is_imported(table: SearchedTable, parameter: Any) -> ColumnElement[bool]:
    """True for rows that an import of the account has made or changed."""
    ids = columns_of(ImportedRecord, ImportedRecord.record_id)
    return table.table.c.id.in_(ids.where(ImportedRecord.import_id == parameter))


Excluded = Mapping[QueryShape, Sequence[str]]


class Parameters:
    """The parameters of one statement, each with a new name; ``values`` has their values."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def add(self, value: Any, kind: Any) -> ColumnElement[Any]:
        """Add a parameter of a type."""
        return bindparam(self.name(value), type_=kind)

    def name(self, value: Any) -> str:
        """Add a value. Returns the name of its parameter."""
        name = f"value_{len(self.values)}"
        self.values[name] = value
        return name


def filterable_properties(fields: Sequence[Field]) -> dict[str, ValueKind]:
    """The properties that records can be filtered by, with their kinds."""
    compared: dict[str, ValueKind] = {
        field.name: field.kind.compared_as for field in fields if field.kind.compared_as
    }
    return compared | {GEOMETRY: "geometry"}


@dataclass(frozen=True)
class Conditions:
    """Makes the conditions of one request.

    Args:
        excluded: for each geometry, the ids of the rows whose boxes touch it, but do not
            intersect it.
    """

    table: SearchedTable
    dialect: str
    excluded: Excluded
    parameters: Parameters

    def of(self, node: Node) -> ColumnElement[bool]:
        """The condition of a filter."""
        match node:
            case And(parts):
                return and_(*map(self.of, parts))
            case Or(parts):
                return or_(*map(self.of, parts))
            case Not(part):
                return not_(self.of(part))
            case Constant(value):
                return true() if value else false()
            case Comparison(name, sign, value):
                return self._comparison(name, sign, value)
            case _:
                return self._test(node)

    def _test(
        self, node: Like | In | IsNull | Intersects | HasMetadata | IsImported
    ) -> ColumnElement[bool]:
        match node:
            case IsImported(import_id):
                return is_imported(self.table, self.parameters.add(import_id, String()))
            case HasMetadata(key, value):
                return self._has_metadata(key, value)
            case Intersects(_, shape):
                return self._intersects(shape)
            case IsNull(name):
                return self._column(name).is_(None)
            case Like(name, pattern):
                return self._like(self._column(name), pattern)
            case In(name, values):
                return self._column(name).in_([self._literal(name, value) for value in values])

    def _comparison(self, name: str, sign: Operator, value: Value) -> ColumnElement[bool]:
        column = self._column(name)
        if sign not in ("=", "<>") and self._is_collated(name):
            column = column.collate("C")
        compared: ColumnElement[bool] = OPERATORS[sign](column, self._literal(name, value))
        return compared

    def _column(self, name: str) -> ColumnElement[Any]:
        columns = self.table.table.c
        if name == GEOMETRY:
            west: ColumnElement[Any] = columns[self.table.sides[0]]
            return west
        return self.table.column(self._field(name), columns)

    def _is_collated(self, name: str) -> bool:
        """True if PostgreSQL would sort a text by the database's collation, unlike SQLite."""
        kind = self._field(name).kind
        return self.dialect == "postgresql" and kind is not ID and kind.compared_as == "text"

    def _literal(self, name: str, value: Value) -> ColumnElement[Any]:
        kind = self._field(name).kind
        assert kind.compared_as is not None, name
        if kind.factor != 1 and isinstance(value, float):
            value = float(Decimal(repr(value)) * kind.factor)
        if kind is KEYWORD and isinstance(value, str):
            value = lower_case(value)
        return self.parameters.add(value, _TYPES[kind.compared_as]())

    def _field(self, name: str) -> Field:
        return next(field for field in self.table.fields if field.name == name)

    def _like(self, column: ColumnElement[Any], pattern: str) -> ColumnElement[bool]:
        """Case-sensitive ``LIKE``, which is ``GLOB`` on SQLite."""
        if self.dialect == "postgresql":
            return column.like(self.parameters.add(_close_escape(pattern), String()), escape="\\")
        return column.bool_op("GLOB")(self.parameters.add(_glob_pattern(pattern), String()))

    def _has_metadata(self, key: str, value: str) -> ColumnElement[bool]:
        values = metadata_values(key, value)

        def bind(name: str) -> ColumnElement[Any]:
            kind = NullType() if name in ("kind", "number") else String()
            return self.parameters.add(values[name], kind)

        return metadata_test(self.table.table.c.metadata_json, self.dialect, bind)

    def _intersects(self, shape: QueryShape) -> ColumnElement[bool]:
        touching = touches_box(self.table, shape.bounds, self.parameters)
        ids = self.excluded.get(shape)
        if not ids:
            return touching
        name = self.parameters.name(ids)
        return and_(touching, not_(is_among_ids(self.table.table.c.id, name)))


def touches_box(table: SearchedTable, box: Bounds, parameters: Parameters) -> ColumnElement[bool]:
    """Select rows whose box has a point in common with ``box``."""
    west, south, east, north = (table.table.c[side] for side in table.sides)
    turned = [
        and_(
            west <= parameters.add(box.east + turn, Double()),
            east >= parameters.add(box.west + turn, Double()),
        )
        for turn in _TURNS
    ]
    low, high = parameters.add(box.south, Double()), parameters.add(box.north, Double())
    return and_(or_(*turned), south <= high, north >= low)


def is_within(table: SearchedTable, box: Bounds, parameters: Parameters) -> ColumnElement[bool]:
    """Select rows whose box lies in ``box``, so that every shape in them intersects it."""
    west, south, east, north = (table.table.c[side] for side in table.sides)
    turned = [
        and_(
            west >= parameters.add(box.west + turn, Double()),
            east <= parameters.add(box.east + turn, Double()),
        )
        for turn in _TURNS
    ]
    low, high = parameters.add(box.south, Double()), parameters.add(box.north, Double())
    return and_(or_(*turned), south >= low, north <= high)


def _close_escape(pattern: str) -> str:
    """A pattern for ``LIKE``, without the error of a single backslash at the end."""
    trailing = len(pattern) - len(pattern.rstrip("\\"))
    return pattern + "\\" if trailing % 2 else pattern


def _glob_pattern(pattern: str) -> str:
    """The same pattern in the language of ``GLOB``."""
    parts, escaped = [], False
    for character in _close_escape(pattern):
        if not escaped and character == "\\":
            escaped = True
            continue
        if not escaped and character in "%_":
            parts.append("*" if character == "%" else "?")
        else:
            parts.append(f"[{character}]" if character in "*?[" else character)
        escaped = False
    return "".join(parts)
