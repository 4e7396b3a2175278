"""CQL2 as JSON, such as ``{"op": "=", "args": [{"property": "status"}, "active"]}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.geometry.shapes import Crs
from app.lists.cql.building import Builder, Operand, Property
from app.lists.cql.nodes import FilterInvalid, Node, ValueKind
from app.policy.ogc import FILTER_DEPTH, FILTER_LENGTH
from app.values.strict_json import JsonInvalid, dumps, is_within_levels, loads

# The number of arguments of an operator; None: at least two.
_ARGUMENTS: Final[dict[str, int | None]] = {
    "and": None, "or": None, "not": 1, "like": 2, "between": 3, "in": 2, "isNull": 1,
    "s_intersects": 2, "=": 2, "<>": 2, "<": 2, ">": 2, "<=": 2, ">=": 2,
}  # fmt: skip


def parse_json(text: str, properties: Mapping[str, ValueKind], crs: Crs) -> Node:
    """The tree of a filter. Arguments and errors are as in ``app.lists.cql.text.parse_text``."""
    if len(text) > FILTER_LENGTH:
        raise FilterInvalid(f"The filter is longer than {FILTER_LENGTH:,} characters.")
    try:
        value = loads(text.encode())
    except JsonInvalid as error:
        raise FilterInvalid(str(error).replace("The body", "The filter")) from None
    except UnicodeEncodeError:
        raise FilterInvalid("The filter is not valid JSON.") from None
    return _Reader(Builder(properties, crs)).node(value, 1)


class _Reader:
    """Makes nodes of parsed JSON."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def node(self, value: Any, depth: int) -> Node:
        self._builder.check_depth(depth)
        if isinstance(value, bool):
            return self._builder.constant(value)
        operator, args = _operator_call(value)
        if operator in ("and", "or", "not"):
            parts = [self.node(arg, depth + 1) for arg in args]
            if operator == "not":
                return self._builder.negated(parts[0])
            return self._builder.all_of(parts) if operator == "and" else self._builder.any_of(parts)
        return self._predicate(operator, args)

    def _predicate(self, operator: str, args: list[Any]) -> Node:
        left = self._operand(args[0])
        if operator == "isNull":
            return self._builder.is_null(left)
        if operator == "in":
            if not isinstance(args[1], list):
                raise FilterInvalid("The second argument of in must be an array.")
            return self._builder.one_of(left, [self._operand(arg) for arg in args[1]])
        operands = [self._operand(arg) for arg in args[1:]]
        if operator == "between":
            return self._builder.between(left, *operands)
        if operator == "like":
            return self._builder.like(left, operands[0])
        if operator == "s_intersects":
            return self._builder.intersects(left, operands[0])
        return self._builder.comparison(left, operator, operands[0])

    def _operand(self, value: Any) -> Operand:
        if not isinstance(value, dict):
            return value
        if set(value) == {"property"} and isinstance(value["property"], str):
            return Property(value["property"])
        if set(value) == {"timestamp"}:
            return self._builder.timestamp(value["timestamp"])
        if set(value) == {"date"}:
            return self._builder.date(value["date"])
        if set(value) == {"bbox"} and _are_numbers(value["bbox"]):
            return self._builder.box(value["bbox"])
        if {"coordinates", "geometries"} & set(value):
            if not is_within_levels(value, FILTER_DEPTH):
                raise FilterInvalid(f"A geometry is nested more than {FILTER_DEPTH} levels deep.")
            return self._builder.shape(dumps(value).decode())
        if isinstance(value.get("op"), str):
            self._builder.refuse_function(value["op"])
        raise FilterInvalid(
            "An argument must be a value, or an object with property, timestamp, date, bbox, "
            "coordinates or geometries."
        )


def _operator_call(value: Any) -> tuple[str, list[Any]]:
    """The operator and the arguments of an object."""
    if not isinstance(value, dict) or set(value) != {"op", "args"}:
        raise FilterInvalid("A filter in JSON is an object with op and args.")
    operator, args = value["op"], value["args"]
    if not isinstance(operator, str) or operator not in _ARGUMENTS:
        names = ", ".join(_ARGUMENTS)
        raise FilterInvalid(f"The op {str(operator)[:50]!r} is unknown. Those that are: {names}.")
    expected = _ARGUMENTS[operator]
    count = len(args) if isinstance(args, list) else -1
    if count < 2 if expected is None else count != expected:
        number = "two or more" if expected is None else expected
        raise FilterInvalid(f"{operator} needs an array of {number} args.")
    return operator, args


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) in (int, float) for item in value)
