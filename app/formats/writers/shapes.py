"""The coordinates of stored geometries, for formats that write them in their own way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import orjson

from app.values.strict_json import Fragment, dumps

Position = list[float]  # longitude, latitude, and maybe a height
Ring = list[Position]
Part = list[Ring]  # the exterior ring, then its holes


class Shape(NamedTuple):
    """A Polygon or MultiPolygon as its parts, or a Point as one part with one ring of one position.

    ``has_heights``: all positions have one. Where only some do, formats leave them out.
    """

    type: str
    parts: list[Part]
    has_heights: bool

    @property
    def position(self) -> Position:
        """The position of a Point."""
        return self.parts[0][0][0]

    def rings(self) -> Iterator[Ring]:
        return chain.from_iterable(self.parts)

    def box(self) -> tuple[float, float, float, float]:
        """West, east, south, north."""
        positions = list(chain.from_iterable(self.rings()))
        longitudes = [position[0] for position in positions]
        latitudes = [position[1] for position in positions]
        return min(longitudes), max(longitudes), min(latitudes), max(latitudes)


def read_shape(geometry: Fragment) -> Shape:
    """The shape of a stored geometry: a Point, a Polygon or a MultiPolygon."""
    value = orjson.loads(dumps(geometry))
    kind, coordinates = value["type"], value["coordinates"]
    if kind == "Point":
        coordinates = [[coordinates]]
    parts = coordinates if kind == "MultiPolygon" else [coordinates]
    positions = chain.from_iterable(chain.from_iterable(parts))
    return Shape(kind, parts, all(len(position) == 3 for position in positions))
