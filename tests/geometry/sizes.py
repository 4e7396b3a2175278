"""How large a boundary of a shape may be."""

from __future__ import annotations

from functools import cache
from math import isqrt

from app.geometry.complexity import is_too_complex
from app.geometry.rings import Rings, read_rings
from tests.geometry.expensive_shapes import SHAPES, Geometry


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
    return is_too_complex(rings_of(geometry))


def rings_of(geometry: Geometry) -> Rings:
    multi = geometry["type"] == "MultiPolygon"
    rings = read_rings(geometry["coordinates"], multi=multi, max_positions=200_000)
    assert rings is not None
    return rings
