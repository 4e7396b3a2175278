"""What the tests of refused boundaries share: shapes, and what a problem must say."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import orjson
import shapely

Ring = list[list[float]]
NAN, INFINITE = float("nan"), float("inf")
NO_NUMBERS: list[Any] = ["1", "", True, False, None, [], [1], {}, NAN, INFINITE, -INFINITE]


def box(west: float, south: float, east: float, north: float) -> Ring:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def polygon(*rings: Any, **members: Any) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings), **members}


def multipolygon(*parts: Any) -> dict[str, Any]:
    return {"type": "MultiPolygon", "coordinates": list(parts)}


def placed(geometry: dict[str, Any], lon: float, lat: float, degrees: float) -> dict[str, Any]:
    """A Polygon or MultiPolygon as wide, or as high, as so many degrees, around a place."""
    drawn = shapely.from_geojson(orjson.dumps(geometry))
    corner, far = np.reshape(shapely.bounds(drawn), (2, 2))
    scale, middle = degrees / (far - corner).max(), (corner + far) / 2
    moved = shapely.transform(drawn, lambda places: (places - middle) * scale + (lon, lat))
    found: dict[str, Any] = orjson.loads(shapely.to_geojson(moved))
    return found


class Told(NamedTuple):
    """What a problem must say: its code, indices from 0, coordinates and field."""

    code: str
    part: int | None = None
    ring: int | None = None
    position: int | None = None
    coordinates: list[float] | None = None
    field: str = "geometry.coordinates"


BOWTIE = [[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]
UNIT = box(0, 0, 1, 1)
TEN = box(0, 0, 10, 10)
