"""What the tests of refused boundaries share: shapes, and what a problem must say."""

from __future__ import annotations

from typing import Any, NamedTuple

Ring = list[list[float]]
NAN, INFINITE = float("nan"), float("inf")
NO_NUMBERS: list[Any] = ["1", "", True, False, None, [], [1], {}, NAN, INFINITE, -INFINITE]


def box(west: float, south: float, east: float, north: float) -> Ring:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def polygon(*rings: Any, **members: Any) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings), **members}


def multipolygon(*parts: Any) -> dict[str, Any]:
    return {"type": "MultiPolygon", "coordinates": list(parts)}


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
