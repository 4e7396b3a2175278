"""GeoJSON of known shape."""

from __future__ import annotations

from typing import Any

from app.geometry import Bounds

Ring = list[list[float]]


def square_ring(west: float = 10.0, south: float = 50.0, size: float = 0.1) -> Ring:
    east, north = west + size, south + size
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def square(west: float = 10.0, south: float = 50.0, size: float = 0.1) -> dict[str, Any]:
    """A Polygon with its sides along the axes, wound counter-clockwise."""
    return {"type": "Polygon", "coordinates": [square_ring(west, south, size)]}


def multi_square(*corners: tuple[float, float], size: float = 0.1) -> dict[str, Any]:
    """A MultiPolygon of squares with these south-western corners."""
    rings = [[square_ring(west, south, size)] for west, south in corners]
    return {"type": "MultiPolygon", "coordinates": rings}


def point(longitude: float = 10.0, latitude: float = 50.0) -> dict[str, Any]:
    return {"type": "Point", "coordinates": [longitude, latitude]}


def overlaps(a: Bounds, b: Bounds) -> bool:
    """True if two boxes have a point in common; a shared edge or corner is enough."""
    return (
        a.south <= b.north
        and b.south <= a.north
        and any(a.west <= b.east + k and b.west + k <= a.east for k in (-360, 0, 360))
    )
