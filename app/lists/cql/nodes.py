"""Filters as trees. Comparisons have a property on the left and a value on the right.

A property without a value makes a comparison neither true nor false, as in SQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from app.geometry.shapes import QueryShape

ValueKind = Literal["text", "number", "boolean", "time", "geometry"]
Operator = Literal["=", "<>", "<", ">", "<=", ">="]
Value: TypeAlias = str | float | bool | datetime


class FilterInvalid(ValueError):
    """The filter is wrong, or more than the service supports, as the message says."""


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Node


@dataclass(frozen=True, slots=True)
class Comparison:
    property: str
    operator: Operator
    value: Value


@dataclass(frozen=True, slots=True)
class Like:
    """``pattern`` has ``%`` for any characters and ``_`` for one; a backslash escapes them."""

    property: str
    pattern: str


@dataclass(frozen=True, slots=True)
class In:
    property: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    property: str


@dataclass(frozen=True, slots=True)
class Intersects:
    property: str
    shape: QueryShape


@dataclass(frozen=True, slots=True)
class HasMetadata:
    """``value`` is the text at a key of the metadata, or the JSON text of a number or boolean."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class IsImported:
    """Made or changed by this import."""

    import_id: str


@dataclass(frozen=True, slots=True)
class Constant:
    value: bool


Node: TypeAlias = (
    And | Or | Not | Comparison | Like | In | IsNull | Intersects
    | HasMetadata | IsImported | Constant
)  # fmt: skip


def conjunction(*parts: Node | None) -> Node | None:
    """The conjunction of filters; None is ignored, and returned if there are no others."""
    present = tuple(part for part in parts if part is not None)
    return And(present) if len(present) > 1 else present[0] if present else None


def conjuncts(node: Node | None) -> tuple[Node, ...]:
    """The operands of the outermost conjunction."""
    if node is None:
        return ()
    if isinstance(node, And):
        return tuple(inner for part in node.parts for inner in conjuncts(part))
    return (node,)


def shapes_in(node: Node | None) -> tuple[QueryShape, ...]:
    """The geometries in a filter."""
    match node:
        case Intersects(_, shape):
            return (shape,)
        case And(parts) | Or(parts):
            return tuple(shape for part in parts for shape in shapes_in(part))
        case Not(part):
            return shapes_in(part)
        case _:
            return ()
