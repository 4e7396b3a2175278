"""The positions of a parsed GeoJSON geometry of any type, as one array and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from app.geometry import GeometryInvalid, Problem
from app.geometry.problems import whole_problem
from app.geometry.structure import ROUNDING

Json: TypeAlias = dict[str, Any]
Points: TypeAlias = npt.NDArray[np.float64]
"""x and y of each position: an array of shape (n, 2)."""

_HUGE: Final = 1e300  # integers in a file may be too long for a float
_DEEPEST: Final = 4  # arrays around a position, or collections in one another


def unreadable_geometry(message: str, code: str = "unreadable") -> Problem:
    """The problem of a feature whose geometry its reader cannot interpret."""
    return whole_problem(code, message, "geometry")


def positions_of(geometry: Json) -> Points:
    """All positions of a geometry in their order, without heights.

    Raises:
        GeometryInvalid: its coordinates are not arrays of arrays of numbers.
    """
    positions: list[list[float]] = []

    def add(line: list[Any]) -> list[Any]:
        if set(map(type, line)) != {list} or min(map(len, line)) < 2:
            raise _not_a_position()
        flat = [position[:2] for position in line]
        if not set(map(type, chain.from_iterable(flat))) <= {int, float}:
            raise _not_a_position()
        positions.extend(flat)
        return line

    _map_lines(geometry, add)
    try:
        return np.array(positions, dtype=float).reshape(-1, 2)
    except OverflowError:  # an integer of hundreds of digits
        raise _not_a_position() from None


def ordinates(geometry: Any) -> int:
    """The number of ordinates of the first position of a geometry."""
    value = _first_array(geometry)
    return len(value) if isinstance(value, list) else 0


def first_position(geometry: Json | None) -> tuple[float, float] | None:
    """The first x and y of a geometry, which need not be valid; None if it has none."""
    value = _first_array(geometry)
    if not isinstance(value, list) or len(value) < 2:
        return None
    x, y = value[:2]
    are_numbers = all(type(ordinate) in (int, float) for ordinate in (x, y))
    return (float(x), float(y)) if are_numbers and max(abs(x), abs(y)) < _HUGE else None


def _first_array(geometry: Any) -> Any:
    """The innermost first value of a geometry: mostly its first position."""
    value = geometry
    while isinstance(value, dict):
        is_collection = value.get("type") == "GeometryCollection"
        value = value.get("geometries" if is_collection else "coordinates")
        while isinstance(value, list) and value and isinstance(value[0], list | dict):
            value = value[0]
    return value


def is_degrees(position: tuple[float, float]) -> bool:
    """True if a position can be longitude and latitude, but for a rounding error."""
    return abs(position[0]) <= 180 + ROUNDING and abs(position[1]) <= 90 + ROUNDING


def replace_positions(geometry: Json, points: Points) -> Json:
    """Return the geometry with other positions, in the order of ``positions_of``."""
    rest: Iterator[list[float]] = iter(points.tolist())
    return _map_lines(geometry, lambda line: list(islice(rest, len(line))))


def _map_lines(geometry: Any, change: Callable[[list[Any]], list[Any]], depth: int = 0) -> Json:
    """A geometry with only its type and its changed positions, those of a line at a time."""
    if not isinstance(geometry, dict) or depth > _DEEPEST:
        raise GeometryInvalid([unreadable_geometry("The geometry is not one of GeoJSON.")])
    kind = geometry.get("type")
    if kind == "GeometryCollection" and isinstance(geometry.get("geometries"), list):
        members = [_map_lines(member, change, depth + 1) for member in geometry["geometries"]]
        return {"type": kind, "geometries": members}
    return {"type": kind, "coordinates": _mapped_arrays(geometry.get("coordinates"), change)}


def _mapped_arrays(
    value: Any, change: Callable[[list[Any]], list[Any]], depth: int = 0
) -> list[Any]:
    if not isinstance(value, list) or depth > _DEEPEST:
        raise _not_a_position()
    if value and not isinstance(value[0], list):
        return change([value])[0]  # type: ignore[no-any-return]
    if depth < _DEEPEST and value and value[0] and not isinstance(value[0][0], list):
        return change(value)
    return [_mapped_arrays(item, change, depth + 1) for item in value]


def _not_a_position() -> GeometryInvalid:
    message = "`coordinates` are not arrays of positions, each of two or three finite numbers."
    return GeometryInvalid([unreadable_geometry(message, "wrong_position")])
