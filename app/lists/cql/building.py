"""Building the nodes of a filter in text or JSON: checks names, kinds and sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

from app.geometry.shapes import Crs, QueryShape, ShapeInvalid, read_box, read_shape
from app.lists.cql.nodes import (
    And,
    Comparison,
    Constant,
    FilterInvalid,
    In,
    Intersects,
    IsNull,
    Like,
    Node,
    Not,
    Operator,
    Or,
    Value,
    ValueKind,
)
from app.policy.ogc import (
    FILTER_DEPTH,
    FILTER_PARTS,
    FILTER_PATTERNS,
    FILTER_SHAPES,
    PATTERN_LENGTH,
)
from app.values.text import storage_problem
from app.values.timestamps import TimestampInvalid, read_timestamp

# Each operator, and its equivalent with the sides swapped.
_OPERATORS: Final[dict[str, tuple[Operator, Operator]]] = {
    "=": ("=", "="), "<>": ("<>", "<>"), "<": ("<", ">"), ">": (">", "<"), "<=": ("<=", ">="),
    ">=": (">=", "<="),
}  # fmt: skip
_WRITTEN: Final[dict[str, str]] = {
    "text": "a text in single quotes",
    "number": "a number",
    "boolean": "true or false",
    "time": "a time such as TIMESTAMP('2026-01-02T03:04:05Z')",
    "geometry": "a geometry, in S_INTERSECTS",
}
_LONGEST_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class Property:
    """An operand that names a property."""

    name: str


Operand = Any  # a Property, or a value


class Builder:
    """Makes the nodes of one filter, and counts them.

    Args:
        properties: the kinds of properties that can be compared.
        crs: the coordinate system of geometries in the filter.
    """

    def __init__(self, properties: Mapping[str, ValueKind], crs: Crs) -> None:
        self._properties, self._crs = properties, crs
        self._parts = self._patterns = self._shapes = 0

    def comparison(self, left: Operand, operator: str, right: Operand) -> Node:
        sign, mirrored = _OPERATORS[operator]
        if isinstance(right, Property) and not isinstance(left, Property):
            left, right, sign = right, left, mirrored
        name = self._name(left)
        return Comparison(name, sign, self._value(name, right))

    def like(self, left: Operand, pattern: Operand) -> Node:
        name = self._name(left)
        if self._properties[name] != "text" or not isinstance(pattern, str):
            raise FilterInvalid("LIKE compares a text with a pattern in single quotes.")
        self._count()
        self._patterns += 1
        if self._patterns > FILTER_PATTERNS or len(pattern) > PATTERN_LENGTH:
            raise FilterInvalid(
                f"A filter has at most {FILTER_PATTERNS} patterns of {PATTERN_LENGTH} characters."
            )
        return Like(name, _check_storable(pattern))

    def between(self, left: Operand, low: Operand, high: Operand) -> Node:
        name = self._name(left)
        bounds = self._value(name, low), self._value(name, high)
        return And((Comparison(name, ">=", bounds[0]), Comparison(name, "<=", bounds[1])))

    def one_of(self, left: Operand, values: Sequence[Operand]) -> Node:
        name = self._name(left)
        if not values:
            raise FilterInvalid("IN needs at least one value.")
        return In(name, tuple(self._value(name, value) for value in values))

    def is_null(self, left: Operand) -> Node:
        self._count()
        return IsNull(self._name(left))

    def intersects(self, left: Operand, right: Operand) -> Node:
        if isinstance(left, QueryShape):
            left, right = right, left
        name = self._name(left)
        if self._properties[name] != "geometry" or not isinstance(right, QueryShape):
            raise FilterInvalid("S_INTERSECTS compares the property geometry with a geometry.")
        return Intersects(name, right)

    def all_of(self, parts: Sequence[Node]) -> Node:
        return And(tuple(parts)) if len(parts) > 1 else parts[0]

    def any_of(self, parts: Sequence[Node]) -> Node:
        return Or(tuple(parts)) if len(parts) > 1 else parts[0]

    def negated(self, part: Node) -> Node:
        return Not(part)

    def constant(self, value: bool) -> Node:
        self._count()
        return Constant(value)

    def box(self, numbers: Sequence[float]) -> QueryShape:
        self._count_shape()
        try:
            return read_box(numbers, self._crs)
        except ShapeInvalid as error:
            raise FilterInvalid(str(error)) from None

    def shape(self, text: str) -> QueryShape:
        """The shape of a geometry in WKT or GeoJSON."""
        self._count_shape()
        try:
            return read_shape(text, self._crs)
        except ShapeInvalid as error:
            raise FilterInvalid(str(error)) from None

    def timestamp(self, text: Operand) -> datetime:
        try:
            return read_timestamp(text)
        except TimestampInvalid as error:
            raise FilterInvalid(f"A TIMESTAMP {error}") from None

    def date(self, text: Operand) -> datetime:
        """The start of a day, in UTC."""
        try:
            return read_timestamp(f"{text}T00:00:00Z")
        except TimestampInvalid:
            raise FilterInvalid("A DATE must be a day such as 2026-01-02.") from None

    def refuse_function(self, name: str) -> NoReturn:
        raise FilterInvalid(
            f"The function {name[:_LONGEST_SHOWN]} is not supported. The functions are "
            "S_INTERSECTS, BBOX, TIMESTAMP and DATE."
        )

    def check_depth(self, depth: int) -> None:
        if depth > FILTER_DEPTH:
            raise FilterInvalid(f"The filter is nested more than {FILTER_DEPTH} levels deep.")

    def _name(self, operand: Operand) -> str:
        if not isinstance(operand, Property):
            raise FilterInvalid("A comparison needs a property on one side.")
        if operand.name not in self._properties:
            raise FilterInvalid(
                f"The property {operand.name[:_LONGEST_SHOWN]!r} cannot be filtered by. Those that "
                f"can are: {', '.join(self._properties)}."
            )
        return operand.name

    def _value(self, name: str, operand: Operand) -> Value:
        self._count()
        kind = self._properties[name]
        if kind == "text" and isinstance(operand, str):
            return _check_storable(operand)
        is_number = isinstance(operand, int | float) and not isinstance(operand, bool)
        if (kind == "number" and is_number) or (kind == "time" and isinstance(operand, datetime)):
            return operand.astimezone(UTC) if isinstance(operand, datetime) else float(operand)
        if isinstance(operand, Property):
            raise FilterInvalid("Two properties cannot be compared with each other.")
        raise FilterInvalid(f"The property {name} is compared with {_WRITTEN[kind]}.")

    def _count(self) -> None:
        self._parts += 1
        if self._parts > FILTER_PARTS:
            raise FilterInvalid(f"The filter has more than {FILTER_PARTS} values.")

    def _count_shape(self) -> None:
        self._shapes += 1
        if self._shapes > FILTER_SHAPES:
            raise FilterInvalid(f"The filter has more than {FILTER_SHAPES} geometries.")


def _check_storable(text: str) -> str:
    if problem := storage_problem(text):
        raise FilterInvalid(f"A text in the filter is invalid. {problem}")
    return text
