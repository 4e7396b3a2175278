"""The areas that two boundaries have in common, and that one has beyond the other, in square
meters.

Polygons are overlaid in the plane of longitude and latitude, and the pieces are measured as
boundaries are. Where GEOS could take long, it does so in another process, which is ended in time.
Parts on both sides of the antimeridian need no care, as no part crosses it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from app.geometry import timed
from app.geometry.area import boundary_area, boundary_perimeter
from app.geometry.polygons import build_polygons, polygon_rings
from app.geometry.rings import Floats, Rings, stored_rings
from app.policy.request_limits import OVERLAP_METERS, OVERLAY_SECONDS

_COMPARED: Final = 2_000_000  # pairs of edges, which are compared in 60 ms however they lie
_SMALL: Final = 4_000  # pairs of edges; even if all cross, and GEOS tries again, it takes 0.5 s
LARGE: Final = 500  # positions of two boundaries; fewer are overlaid whole
_MARGIN: Final = 1e-6  # degrees around the changed edges
# Odd numbers without a pattern, to mix the bits of numbers.
_MIXERS: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))


class Shape(NamedTuple):
    """A valid boundary: its rings, and shapely's polygons of them."""

    rings: Rings
    polygons: Any


class AreaDifference(NamedTuple):
    """The square meters that a boundary has gained and lost; None: too expensive to find out."""

    added_m2: int | None
    removed_m2: int | None


UNKNOWN: Final = AreaDifference(None, None)


def shape_of(rings: Rings) -> Shape:
    """The shape of the rings of a boundary."""
    polygons = build_polygons(rings)
    shapely.prepare(polygons)  # for being compared with several others
    return Shape(rings, polygons)


def stored_shape(text: str) -> Shape:
    """The shape of a boundary's text."""
    return shape_of(stored_rings(text))


def common_area(one: Shape, other: Shape, seconds: float = OVERLAY_SECONDS) -> float | None:
    """Return the square meters that two boundaries have in common.

    It is 0 if that area is narrower than OVERLAP_METERS on the average, as between neighbors that
    were drawn separately, and None if it takes longer than twice ``seconds`` of processor time. To
    compare one boundary with several, pass it as ``one``.
    """
    pairs = len(one.rings.lon) * len(other.rings.lon)
    if pairs <= _COMPARED:
        if not shapely.intersects(one.polygons, other.polygons):
            return 0.0
        if shapely.touches(one.polygons, other.polygons):
            return 0.0
        if shapely.contains_properly(one.polygons, other.polygons):
            return boundary_area(other.rings)
    if pairs <= _SMALL:
        try:
            return _wide_area(shapely.intersection(one.polygons, other.polygons))
        except shapely.errors.GEOSException:
            return None
    common = timed.intersection(one.polygons, other.polygons, seconds)
    if common is not None:
        return _wide_area(common)
    lost = area_difference(one, other, seconds).removed_m2  # quick, if they are nearly the same
    return None if lost is None else max(0.0, boundary_area(one.rings) - lost)


def area_difference(old: Shape, new: Shape, seconds: float = OVERLAY_SECONDS) -> AreaDifference:
    """Return the areas that the new boundary has gained and lost, or UNKNOWN if that takes longer
    than ``seconds`` of processor time.

    Of large boundaries only the box around the changed edges is overlaid. Finding it takes a
    microsecond for each position.
    """
    box = None
    if len(old.rings.lon) + len(new.rings.lon) > LARGE:
        box = _changed_box(old.rings, new.rings)
        if box is None:
            return AreaDifference(0, 0)
    differences: tuple[Any, Any] | None
    if len(old.rings.lon) * len(new.rings.lon) <= _SMALL:
        try:
            differences = (
                shapely.difference(new.polygons, old.polygons),
                shapely.difference(old.polygons, new.polygons),
            )
        except shapely.errors.GEOSException:
            differences = None
    else:
        differences = timed.differences(old.polygons, new.polygons, box, seconds)
    if differences is None:
        return UNKNOWN
    gained, lost = differences
    return AreaDifference(round(_polygons_area(gained)), round(_polygons_area(lost)))


def _polygons_area(polygons: Any) -> float:
    return max(0.0, boundary_area(polygon_rings(polygons)))


def _wide_area(polygons: Any) -> float:
    """The area of polygons, or 0 if they are narrow: the mean width of something long is its area
    by half its perimeter."""
    rings = polygon_rings(polygons)
    area = max(0.0, boundary_area(rings))
    return area if 2 * area >= OVERLAP_METERS * boundary_perimeter(rings) else 0.0


def _changed_box(old: Rings, new: Rings) -> Any:
    """The box around all edges that only one of two boundaries has, or None without any."""
    old_edges, new_edges = _edge_numbers(old), _edge_numbers(new)
    changed = (
        np.flatnonzero(np.isin(old_edges, new_edges, invert=True)),
        np.flatnonzero(np.isin(new_edges, old_edges, invert=True)),
    )
    ends = [
        np.stack((rings.lon[index + end], rings.lat[index + end]))
        for rings, index in zip((old, new), changed, strict=True)
        for end in (0, 1)
    ]
    positions: Floats = np.concatenate(ends, axis=1)
    if not positions.size:
        return None
    west, south = positions.min(axis=1) - _MARGIN
    east, north = positions.max(axis=1) + _MARGIN
    return shapely.box(west, south, east, north)


def _edge_numbers(rings: Rings) -> NDArray[np.uint64]:
    """A number for each edge, the same in both directions, and hardly ever that of another edge.

    There is also one from each ring to the next; it changes where the order of the rings does.
    """
    first, second = _MIXERS
    lon = np.ascontiguousarray(rings.lon + 0.0).view(np.uint64)
    lat = np.ascontiguousarray(rings.lat + 0.0).view(np.uint64)
    position = (lon * first) ^ (lat * second)
    position ^= position >> np.uint64(29)
    position *= first
    position ^= position >> np.uint64(32)
    edges: NDArray[np.uint64] = position[:-1] * position[1:] + position[:-1] + position[1:]
    return edges
