"""The area of GeoJSON polygons a second way, without PROJ's sum over geodesics.

Lambert's cylindrical projection of the ellipsoid keeps areas: x = a λ and y = a q(φ) / 2, where
q(φ) = (1 - e²) (sin φ / (1 - e² sin² φ) + artanh(e sin φ) / e) (Snyder, "Map Projections: A Working
Manual", 1987, section 10). There the shoelace formula gives the area, and a geodesic is no straight
line, so long edges are cut up along it first.
"""

from __future__ import annotations

from itertools import pairwise
from math import atanh, ceil, fsum, radians, sin, sqrt
from typing import Any

from pyproj import Geod

A = 6378137.0
FLATTENING = 1 / 298.257223563
E2 = FLATTENING * (2 - FLATTENING)
E = sqrt(E2)
STEP_M = 250.0

_GEOD = Geod(a=A, f=FLATTENING)


def hectares(geometry: dict[str, Any]) -> float:
    """The area of a Polygon or MultiPolygon."""
    coordinates = geometry["coordinates"]
    parts = coordinates if geometry["type"] == "MultiPolygon" else [coordinates]
    return fsum(_ring_m2(part[0]) - fsum(map(_ring_m2, part[1:])) for part in parts) / 10_000


def _ring_m2(ring: list[list[float]]) -> float:
    line = [_projected(*position[:2]) for position in _cut_up(ring)]
    west, south = line[0]
    near = [(x - west, y - south) for x, y in line]
    return abs(fsum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairwise(near))) / 2


def _projected(longitude: float, latitude: float) -> tuple[float, float]:
    sine = sin(radians(latitude))
    q = (1 - E2) * (sine / (1 - E2 * sine * sine) + atanh(E * sine) / E)
    return A * radians(longitude), A * q / 2


def _cut_up(ring: list[list[float]]) -> list[Any]:
    positions: list[Any] = []
    for start, end in pairwise(ring):
        positions.append(start)
        length = _GEOD.inv(*start[:2], *end[:2])[2]
        if length > STEP_M:
            positions += _GEOD.npts(*start[:2], *end[:2], ceil(length / STEP_M) - 1)
    return [*positions, ring[-1]]
