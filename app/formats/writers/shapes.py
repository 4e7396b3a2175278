"""The coordinates of stored geometries, for formats with their own notation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import orjson

from app.geometry import Bounds
from app.values.strict_json import Fragment, dumps

Position = list[float]  # longitude, latitude, and maybe a height
Ring = list[Position]
Part = list[Ring]  # the exterior ring, then its holes


class Shape(NamedTuple):
    """A Polygon or MultiPolygon as its parts, or a Point as one part with one ring of one position.
    All positions have a height, or none has one."""

    type: str
    parts: list[Part]

    @property
    def has_heights(self) -> bool:
        return len(self.position) == 3

    @property
    def position(self) -> Position:
        """The position of a Point, or the first one."""
        return self.parts[0][0][0]

    def rings(self) -> Iterator[Ring]:
        return chain.from_iterable(self.parts)

    def box(self) -> Bounds:
        """The box around all positions."""
        positions = list(chain.from_iterable(self.rings()))
        longitudes = [position[0] for position in positions]
        latitudes = [position[1] for position in positions]
        return Bounds(min(longitudes), min(latitudes), max(longitudes), max(latitudes))


def read_shape(geometry: Fragment) -> Shape:
    """Read a stored Point, Polygon or MultiPolygon. Heights are left out if only some positions
    have one."""
    value = orjson.loads(dumps(geometry))
    kind, coordinates = value["type"], value["coordinates"]
    if kind == "Point":
        coordinates = [[coordinates]]
    parts = coordinates if kind == "MultiPolygon" else [coordinates]
    sizes = {len(position) for ring in chain.from_iterable(parts) for position in ring}
    if len(sizes) > 1:
        parts = [[[position[:2] for position in ring] for ring in part] for part in parts]
    return Shape(kind, parts)


def positions_text(ring: Ring) -> str:
    """The positions of a ring as JSON without the outer brackets, ``10.0,50.0],[10.1,50.0``, for
    formats with other separators."""
    return dumps(ring).decode()[2:-2]
