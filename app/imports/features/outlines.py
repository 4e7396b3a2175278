"""The shape of a feature that was rejected, so that people see on a map what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.policy.imports import OUTLINE_POSITIONS
from app.values.strict_json import dumps

# How deep the positions of each type of geometry are.
_DEPTHS: Final = {
    "Point": 0,
    "LineString": 1,
    "Polygon": 2,
    "MultiLineString": 2,
    "MultiPolygon": 3,
}


class _NotDrawable(Exception):
    """The geometry is no shape on a map, or a very large one."""


def outline(geometry: Mapping[str, Any] | None) -> str | None:
    """The text of a geometry that nobody has validated, without heights, as a map can draw it; None
    if it cannot, or the geometry has more than OUTLINE_POSITIONS positions."""
    if geometry is None or geometry.get("type") not in _DEPTHS:
        return None
    kind = geometry["type"]
    try:
        coordinates = _drawable(geometry.get("coordinates"), _DEPTHS[kind], [OUTLINE_POSITIONS])
    except _NotDrawable:
        return None
    return dumps({"type": kind, "coordinates": coordinates}).decode()


def _drawable(value: Any, depth: int, left: list[int]) -> list[Any]:
    """Positions, or lists of them. ``left``: how many more there may be."""
    if not isinstance(value, list | tuple) or not value:
        raise _NotDrawable
    if depth:
        return [_drawable(each, depth - 1, left) for each in value]
    left[0] -= 1
    position = list(value[:2])
    if left[0] < 0 or len(position) < 2 or not all(map(_is_degrees, position)):
        raise _NotDrawable
    if abs(position[1]) > 90:
        raise _NotDrawable
    return position


def _is_degrees(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -180 <= value <= 180
