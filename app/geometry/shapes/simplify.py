"""Boundaries with fewer positions, for maps.

A map shows the world as a square of ``256 * 2 ** zoom`` pixels (Web Mercator). The rings of a
boundary are simplified by Douglas and Peucker's method to half a pixel, and its coordinates are
rounded to a part of one. Rings may cross each other after that: the shapes are for drawing only.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import shapely
from shapely.errors import GEOSException

from app.geometry import Bounds
from app.geometry.rings import Booleans, Floats, Integers, Rings, stored_rings
from app.policy.bounds import MAP_LEAST_PIXELS, MAP_LEVELS, MAP_SHORT_BYTES
from app.values.strict_json import dumps

_TILE: Final = 256  # pixels of the world at zoom 0
_STEPS: Final = 4  # of rounding, in a pixel; more where a power of ten is finer
_TOLERANCE: Final = 0.5  # pixels
_FARTHEST: Final = 85.0511287798066  # the latitude at which the square ends
# GEOS divides a line at its farthest position, again and again. That can take the square of the
# number of positions and as many nested calls, so it gets no more than these at once.
_RUN: Final = 400
_FLAT: Final = 3  # positions of a closed ring without an area
_POINT: Final = '{{"type":"Point","coordinates":[{},{}]}}'


class _Lines(NamedTuple):
    """The rings of all levels, one level after the other.

    ``points``: positions in degrees (n, 2), and ``ring``: the ring of each. ``part``: the part of
    each ring, and ``is_exterior``: whether it is the part's exterior.
    """

    points: Floats
    ring: Integers
    part: Integers
    is_exterior: Booleans


@cache
def decimals(zoom: int) -> int:
    """How many decimals a position in degrees needs on a map."""
    return max(0, math.ceil(math.log10(_STEPS / _degrees(zoom))))


def pixels(bounds: Bounds, zoom: int) -> float:
    """The longer side of a box on a map."""
    high = _north(bounds.north) - _north(bounds.south)
    return max(bounds.east - bounds.west, high) / _degrees(zoom)


def level_of(zoom: int) -> int | None:
    """The zoom that shapes for this one are simplified for; None: the boundary itself is shown."""
    return min((level for level in MAP_LEVELS if level >= zoom), default=None)


def map_shape(text: str, level: int) -> str | None:
    """The shape of a boundary for one of the levels, as ``map_shapes`` has it, or None."""
    return _shapes(text, [level]).get(level)


def map_shapes(text: str) -> dict[int, str]:
    """The shapes of a boundary for the zooms of MAP_LEVELS, as the text of GeoJSON geometries.

    Only those at which it has MAP_LEAST_PIXELS or more, and none where it is short enough to be
    shown whole (``is_shown_whole``). A shape is a Point where each part is smaller than a pixel.

    Args:
        text: GeoJSON of a valid boundary. What else was written with SQL has no shapes.
    """
    levels = [level for level in MAP_LEVELS if not is_shown_whole(len(text), level)]
    return _shapes(text, levels)


def is_shown_whole(size: int, level: int | None) -> bool:
    """Whether a boundary of so many bytes is shown as it is at this level: always where there is
    none, and at the largest one if it is short, as hardly any of its positions could go."""
    return level is None or (level == MAP_LEVELS[0] and size <= MAP_SHORT_BYTES)


def _shapes(text: str, levels: list[int]) -> dict[int, str]:
    """The shapes for those of some levels at which the boundary is large enough."""
    try:
        return _shapes_of(stored_rings(text), levels)
    except (ValueError, TypeError, LookupError, GEOSException):
        return {}


def _shapes_of(rings: Rings, levels: list[int]) -> dict[int, str]:
    sides = (rings.lon.min(), rings.lat.min(), rings.lon.max(), rings.lat.max())
    bounds = Bounds(*map(float, sides))
    levels = [level for level in levels if pixels(bounds, level) >= MAP_LEAST_PIXELS]
    if not levels:
        return {}
    parts = _parts(_without_the_small(_simplified(rings, bounds, levels)), len(levels))
    return {
        level: _polygons_text(polygons) if polygons else point_shape(bounds, level)
        for level, polygons in zip(levels, parts, strict=True)
    }


def _simplified(rings: Rings, bounds: Bounds, levels: list[int]) -> _Lines:
    """The lines of all levels, rounded, and no position twice in a row."""
    stretch = np.array((1.0, 1 / math.cos(math.radians(_most_polar(bounds)))))
    index, run, ring_of_run = _runs(rings.starts)
    positions = np.column_stack((rings.lon, rings.lat))
    runs: Any = shapely.linestrings(positions[index] * stretch, indices=run)
    tolerances = np.array([_TOLERANCE * _degrees(level) for level in levels])
    fewer = shapely.simplify(runs, tolerances[:, np.newaxis], preserve_topology=False)
    points, run = shapely.get_coordinates(fewer, return_index=True)
    level, run = np.divmod(run, len(runs))
    steps = np.array([10.0 ** decimals(each) for each in levels])[level, np.newaxis]
    points = np.rint(points / stretch * steps) / steps
    ring = ring_of_run[run] + level * (len(rings.starts) - 1)
    is_new = _is_first(ring)
    is_new[1:] |= (points[1:] != points[:-1]).any(axis=1)
    part = np.repeat(np.arange(len(rings.part_starts) - 1), np.diff(rings.part_starts))
    of_levels = np.arange(len(levels))[:, np.newaxis] * (len(rings.part_starts) - 1)
    is_exterior = np.zeros(len(part), bool)
    is_exterior[rings.exteriors] = True
    return _Lines(
        points[is_new], ring[is_new], (part + of_levels).ravel(), np.tile(is_exterior, len(levels))
    )


def _runs(starts: list[int]) -> tuple[Integers, Integers, Integers]:
    """Divide rings into runs, each of which begins where the one before ends.

    Returns the positions of all runs one after the other, the run of each, the ring of each run.
    """
    if starts[-1] <= _RUN:
        sizes = np.diff(starts)
        return np.arange(starts[-1]), np.repeat(np.arange(len(sizes)), sizes), np.arange(len(sizes))
    runs = [
        (ring, np.arange(first, min(first + _RUN, end - 1) + 1))
        for ring, (start, end) in enumerate(pairwise(starts))
        for first in range(start, end - 1, _RUN)
    ]
    rings, positions = zip(*runs, strict=True)
    sizes = np.array(list(map(len, positions)))
    return np.concatenate(positions), np.repeat(np.arange(len(sizes)), sizes), np.array(rings)


def _without_the_small(lines: _Lines) -> _Lines:
    """Leave out parts that are one position by now, and holes without an area. An exterior ring of
    a line there and back gets the fourth position that it must have."""
    points, ring, part, is_exterior = lines
    size = np.bincount(ring, minlength=len(part))
    if size.min() > _FLAT:
        return lines
    kept = np.where(is_exterior, size > 1, size > _FLAT)
    kept &= kept[np.flatnonzero(is_exterior)][part]
    second = np.flatnonzero(_is_first(ring)) + 1
    double = second[(is_exterior & (size == _FLAT))[ring[second - 1]]]
    points, ring = (
        np.insert(points, double, points[double], axis=0),
        np.insert(ring, double, ring[double]),
    )
    is_kept = kept[ring]
    return lines._replace(points=points[is_kept], ring=ring[is_kept])


def _parts(lines: _Lines, levels: int) -> list[list[Any]]:
    """The coordinates of the polygons at each level."""
    starts = np.flatnonzero(_is_first(lines.ring))
    positions, rings = lines.points.tolist(), dict[int, list[Any]]()
    ends = [*starts[1:].tolist(), len(positions)]
    of = lines.part[lines.ring[starts]].tolist()
    for part, start, end in zip(of, starts.tolist(), ends, strict=True):
        rings.setdefault(part, []).append(positions[start:end])
    found: list[list[Any]] = [[] for _ in range(levels)]
    each = (int(lines.part[-1]) + 1) // levels
    for part, polygon in rings.items():
        found[part // each].append(polygon)
    return found


def _polygons_text(polygons: list[Any]) -> str:
    """A Polygon or a MultiPolygon."""
    if len(polygons) == 1:
        return _geometry("Polygon", polygons[0])
    return _geometry("MultiPolygon", polygons)


def point_shape(bounds: Bounds, zoom: int) -> str:
    """The middle of a box as a Point, in place of a shape that is too small."""
    places, longitude = decimals(zoom), (bounds.west + bounds.east) / 2
    if longitude > 180:  # past the antimeridian
        longitude -= 360
    latitude = (bounds.south + bounds.north) / 2
    return _POINT.format(round(longitude, places), round(latitude, places))


def _is_first(ring: Integers) -> Booleans:
    """Whether each position is the first one of its ring."""
    is_first: Booleans = np.ones(len(ring), bool)
    is_first[1:] = ring[1:] != ring[:-1]
    return is_first


def _geometry(kind: str, coordinates: Any) -> str:
    return dumps({"type": kind, "coordinates": coordinates}).decode()


def _degrees(zoom: int) -> float:
    """The degrees of longitude in a pixel."""
    return 360 / (_TILE << zoom)


def _north(latitude: float) -> float:
    """How far north a latitude is on the map, in degrees of longitude."""
    within = min(max(latitude, -_FARTHEST), _FARTHEST)
    return math.degrees(math.asinh(math.tan(math.radians(within))))


def _most_polar(bounds: Bounds) -> float:
    """The latitude at which a pixel is the smallest."""
    return min(max(abs(bounds.south), abs(bounds.north)), _FARTHEST)
