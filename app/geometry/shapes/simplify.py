"""Boundaries with fewer positions, for maps.

A map shows the world as a square of ``256 * 2 ** zoom`` pixels (Web Mercator). For each level (a
zoom of MAP_LEVELS), the rings of a boundary are

1. cut into pieces, as long lines take GEOS long, and simplified by Douglas and Peucker's method to
   half a pixel, and rounded to a fraction of one (``_simplified``);
2. left out where nothing remains of them (``_without_collapsed``);
3. put together as GeoJSON (``_polygons``).

Rings may cross each other after that: the shapes are for drawing only.
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
from app.geometry.shapes.crs import MAX_LATITUDE
from app.policy.bounds import MAP_LEAST_PIXELS, MAP_LEVELS, MAP_SHORT_BYTES
from app.values.strict_json import dumps

_TILE_PIXELS: Final = 256  # the side of the world at zoom 0
_ROUNDING_STEPS: Final = 4  # of a pixel, at least: positions are rounded to decimals of a degree
_TOLERANCE_PIXELS: Final = 0.5
# GEOS divides a line at its farthest position, again and again. In the worst case that takes the
# square of its positions and as many nested calls, so it gets pieces of at most this many segments.
_PIECE_SEGMENTS: Final = 400
_FLAT_RING: Final = 3  # positions of a closed ring without an area: there and back
_POINT: Final = '{{"type":"Point","coordinates":[{},{}]}}'


class _LevelRings(NamedTuple):
    """The simplified rings of all levels, as flat arrays: those of the first level first.

    Rings and parts are numbered through all levels: if a boundary has 3 rings, its ring 1 is ring 1
    at the first level and ring 4 at the second.

    ``points``: positions in degrees, of shape (n, 2); ``ring``: the ring of each position.
    ``part``: the part of each ring; ``is_exterior``: True for each part's exterior ring.
    """

    points: Floats
    ring: Integers
    part: Integers
    is_exterior: Booleans


@cache
def decimals(zoom: int) -> int:
    """The number of decimals that a position in degrees needs on a map."""
    return max(0, math.ceil(math.log10(_ROUNDING_STEPS / _pixel_degrees(zoom))))


def pixels(bounds: Bounds, zoom: int) -> float:
    """The longer side of a box on a map, in pixels."""
    height = _mercator_north(bounds.north) - _mercator_north(bounds.south)
    return max(bounds.east - bounds.west, height) / _pixel_degrees(zoom)


def level_of(zoom: int) -> int | None:
    """The level of MAP_LEVELS whose shapes a map of this zoom shows, or None: whole boundaries."""
    return min((level for level in MAP_LEVELS if level >= zoom), default=None)


def map_shape(text: str, level: int) -> str | None:
    """The shape of a boundary for one level, as in ``map_shapes``, or None if it has none."""
    return _shapes(text, [level]).get(level)


def map_shapes(text: str) -> dict[int, str]:
    """The shapes of a boundary for the zooms of MAP_LEVELS, as the text of GeoJSON geometries.

    Only those at which it has MAP_LEAST_PIXELS or more, and none where it is short enough to be
    shown whole (``is_shown_whole``). A shape is a Point where each part is smaller than a pixel.

    Args:
        text: GeoJSON of a valid boundary. Anything else, written with SQL, has no shapes.
    """
    levels = [level for level in MAP_LEVELS if not is_shown_whole(len(text), level)]
    return _shapes(text, levels)


def levels_of(size: int, bounds: Bounds) -> list[int]:
    """The levels for which ``map_shapes`` gives a boundary of ``size`` bytes a shape.

    Args:
        bounds: its box, in degrees.
    """
    levels = (level for level in MAP_LEVELS if not is_shown_whole(size, level))
    return [level for level in levels if pixels(bounds, level) >= MAP_LEAST_PIXELS]


def is_shown_whole(size: int, level: int | None) -> bool:
    """True if a boundary of ``size`` bytes is shown as it is at this level.

    Always without a level; at the largest one if it is short, as it would hardly lose a position.
    """
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
    simplified = _without_collapsed(_simplified(rings, bounds, levels))
    return {
        level: _polygons_text(polygons) if polygons else point_shape(bounds, level)
        for level, polygons in zip(levels, _polygons(simplified, len(levels)), strict=True)
    }


def _simplified(rings: Rings, bounds: Bounds, levels: list[int]) -> _LevelRings:
    """The rings of a boundary, simplified and rounded for each level, without repeated positions.

    All rings are simplified for all levels in one call of GEOS.
    """
    # Web Mercator stretches latitudes by 1 / cos(latitude). Here all are stretched as those nearest
    # to a pole, so that the tolerance is never too coarse.
    stretch = np.array((1.0, 1 / math.cos(math.radians(_most_polar(bounds)))))
    index, piece, ring_of_piece = _pieces(rings.starts)
    positions = np.column_stack((rings.lon, rings.lat))
    lines: Any = shapely.linestrings(positions[index] * stretch, indices=piece)
    tolerances = np.array([_TOLERANCE_PIXELS * _pixel_degrees(level) for level in levels])
    # Of shape (levels, pieces), so the number of a line is level * pieces + piece.
    fewer = shapely.simplify(lines, tolerances[:, np.newaxis], preserve_topology=False)
    points, line = shapely.get_coordinates(fewer, return_index=True)
    level, piece = np.divmod(line, len(lines))
    steps = np.array([10.0 ** decimals(each) for each in levels])[level, np.newaxis]
    points = np.rint(points / stretch * steps) / steps
    ring_count, part_count = len(rings.starts) - 1, len(rings.part_starts) - 1
    ring = ring_of_piece[piece] + level * ring_count
    # Pieces share their ends, and rounding moves positions onto each other.
    is_new = _starts_ring(ring)
    is_new[1:] |= (points[1:] != points[:-1]).any(axis=1)
    part = np.repeat(np.arange(part_count), np.diff(rings.part_starts))
    first_part = np.arange(len(levels))[:, np.newaxis] * part_count
    is_exterior = np.zeros(ring_count, bool)
    is_exterior[rings.exteriors] = True
    return _LevelRings(
        points=points[is_new],
        ring=ring[is_new],
        part=(part + first_part).ravel(),
        is_exterior=np.tile(is_exterior, len(levels)),
    )


def _pieces(starts: list[int]) -> tuple[Integers, Integers, Integers]:
    """Divide rings into pieces, each of which begins where the one before ends.

    Args:
        starts: those of ``Rings``.

    Returns:
        The indices of the positions of all pieces, one piece after the other; the piece of each of
        these; and the ring of each piece.
    """
    if starts[-1] <= _PIECE_SEGMENTS:  # each ring is one piece
        sizes = np.diff(starts)
        return np.arange(starts[-1]), np.repeat(np.arange(len(sizes)), sizes), np.arange(len(sizes))
    pieces = [
        (ring, np.arange(first, min(first + _PIECE_SEGMENTS, end - 1) + 1))
        for ring, (start, end) in enumerate(pairwise(starts))
        for first in range(start, end - 1, _PIECE_SEGMENTS)
    ]
    rings, indices = zip(*pieces, strict=True)
    sizes = np.array(list(map(len, indices)))
    return np.concatenate(indices), np.repeat(np.arange(len(sizes)), sizes), np.array(rings)


def _without_collapsed(rings: _LevelRings) -> _LevelRings:
    """Leave out parts that have become one position, and holes without an area.

    An exterior ring that has become a line, there and back, gets the fourth position that GeoJSON
    asks for.
    """
    points, ring, part, is_exterior = rings
    size = np.bincount(ring, minlength=len(part))
    if size.min() > _FLAT_RING:
        return rings
    is_kept = np.where(is_exterior, size > 1, size > _FLAT_RING)
    is_kept &= is_kept[np.flatnonzero(is_exterior)][part]  # a hole goes with its exterior ring
    second = np.flatnonzero(_starts_ring(ring)) + 1
    repeated = second[(is_exterior & (size == _FLAT_RING))[ring[second - 1]]]
    points = np.insert(points, repeated, points[repeated], axis=0)
    ring = np.insert(ring, repeated, ring[repeated])
    in_kept = is_kept[ring]
    return rings._replace(points=points[in_kept], ring=ring[in_kept])


def _polygons(rings: _LevelRings, levels: int) -> list[list[Any]]:
    """The polygons of each level, as GeoJSON ``coordinates``."""
    starts = np.flatnonzero(_starts_ring(rings.ring))
    parts = rings.part[rings.ring[starts]].tolist()
    begins = starts.tolist()
    positions = rings.points.tolist()
    polygons: dict[int, list[Any]] = {}  # by part
    for part, begin, end in zip(parts, begins, [*begins[1:], len(positions)], strict=True):
        polygons.setdefault(part, []).append(positions[begin:end])
    found: list[list[Any]] = [[] for _ in range(levels)]
    parts_of_level = (int(rings.part[-1]) + 1) // levels
    for part, polygon in polygons.items():
        found[part // parts_of_level].append(polygon)
    return found


def _polygons_text(polygons: list[Any]) -> str:
    """GeoJSON of a Polygon or a MultiPolygon."""
    if len(polygons) == 1:
        return _geometry("Polygon", polygons[0])
    return _geometry("MultiPolygon", polygons)


def point_shape(bounds: Bounds, zoom: int) -> str:
    """The middle of a box as GeoJSON of a Point, for a shape that is too small."""
    places, longitude = decimals(zoom), (bounds.west + bounds.east) / 2
    if longitude > 180:  # past the antimeridian
        longitude -= 360
    latitude = (bounds.south + bounds.north) / 2
    return _POINT.format(round(longitude, places), round(latitude, places))


def _starts_ring(ring: Integers) -> Booleans:
    """For each position, True if it is the first one of its ring."""
    starts: Booleans = np.ones(len(ring), bool)
    starts[1:] = ring[1:] != ring[:-1]
    return starts


def _geometry(kind: str, coordinates: Any) -> str:
    return dumps({"type": kind, "coordinates": coordinates}).decode()


def _pixel_degrees(zoom: int) -> float:
    """The degrees of longitude in a pixel."""
    return 360 / (_TILE_PIXELS << zoom)


def _mercator_north(latitude: float) -> float:
    """The distance of a latitude from the equator on the map, in degrees of longitude."""
    within = min(max(latitude, -MAX_LATITUDE), MAX_LATITUDE)
    return math.degrees(math.asinh(math.tan(math.radians(within))))


def _most_polar(bounds: Bounds) -> float:
    """The distance from the equator, in degrees, of the side of a box that is nearer to a pole."""
    return min(max(abs(bounds.south), abs(bounds.north)), MAX_LATITUDE)
