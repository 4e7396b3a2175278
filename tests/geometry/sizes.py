"""How large a boundary of a shape may be."""

from __future__ import annotations

from functools import cache
from math import isqrt

from app.geometry import timed
from app.geometry.polygons import build_polygons
from app.geometry.rings import Rings, read_rings
from app.policy.request_limits import VALIDATION_SECONDS
from tests.geometry.expensive_shapes import SHAPES, Geometry

_MARGIN = 0.9  # of the seconds, as they vary


@cache
def largest(name: str, most: int) -> int:
    """As many positions as a boundary of this shape may have, within an eighth."""
    low, high = 1_000, most
    if not _is_too_complex(SHAPES[name](most)):
        return most
    while high > low * 9 / 8:
        middle = isqrt(low * high)
        low, high = (low, middle) if _is_too_complex(SHAPES[name](middle)) else (middle, high)
    return low


def _is_too_complex(geometry: Geometry) -> bool:
    polygons = build_polygons(rings_of(geometry))
    return timed.is_valid(polygons, _MARGIN * VALIDATION_SECONDS)[0] is None


def rings_of(geometry: Geometry) -> Rings:
    multi = geometry["type"] == "MultiPolygon"
    rings = read_rings(geometry["coordinates"], multi=multi, max_positions=200_000)
    assert rings is not None
    return rings
