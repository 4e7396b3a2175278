"""Boundaries with fewer positions, for maps.

A map shows the world as a square of ``256 * 2 ** zoom`` pixels (Web Mercator). For each level (a
zoom of MAP_LEVELS), the rings of a boundary are

1. cut into pieces, as long lines take GEOS long, and simplified by Douglas and Peucker's method to
   half a pixel, and rounded to a fraction of one (``_simplify_rings``);
2. left out where nothing remains of them (``_without_collapsed``);
3. put together as GeoJSON (``_polygons_of_outlines``).

Rings may cross each other after that: the shapes are for drawing only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import shapely
from shapely.errors import GEOSException

from app.geometry import Bounds
from app.geometry.rings import Booleans, Floats, Integers, Rings, stored_rings
from app.geometry.shapes.crs import MAX_LATITUDE
from app.policy.request_limits import MAP_LEAST_PIXELS, MAP_LEVELS, MAP_SHORT_BYTES
from app.values.strict_json import dumps

_TILE_PIXELS: Final = 256  # the side of the world at zoom 0
_ROUNDING_STEPS: Final = 4  # in a pixel, at least, when positions are rounded to decimals
_TOLERANCE_PIXELS: Final = 0.5
# GEOS divides a line at its farthest position, again and again. In the worst case that takes the
# square of its positions and as many nested calls, so it gets pieces of at most this many segments.
_PIECE_SEGMENTS: Final = 400
_FLAT_RING: Final = 3  # positions of a closed ring without an area: there and back
_POINT: Final = '{{"type":"Point","coordinates":[{},{}]}}'


class _Outline(NamedTuple):
    """A boundary, its number among others, and its box."""

    number: int
    rings: Rings
    bounds: Bounds


class _FewerRings(NamedTuple):
    """The simplified rings of some boundaries, as flat arrays.

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
    return map_shapes([text], level)[0].get(level)


def map_shapes(
    texts: Sequence[str], level: int | None = None, least: float = MAP_LEAST_PIXELS
) -> list[dict[int, str]]:
    """The shapes of boundaries for the zooms of MAP_LEVELS, as the texts of GeoJSON geometries.

    There are shapes where a boundary has ``least`` pixels or more, but none where it is shown whole
    (``is_shown_whole``). A shape is a Point if each part is smaller than a pixel. Many boundaries
    at once take a fifth of the time that they take one by one.

    Args:
        texts: GeoJSON of valid boundaries. Anything else, written with SQL, has no shapes.
        level: make only the shapes for this level, also of short boundaries.

    Returns:
        The shapes of each boundary by level.
    """
    shapes: list[dict[int, str]] = [{} for _ in texts]
    outlines = list(filter(None, map(_parse_outline, range(len(texts)), texts)))
    for map_level in MAP_LEVELS if level is None else (level,):
        large = [
            outline
            for outline in outlines
            if (level is not None or not is_shown_whole(len(texts[outline.number]), map_level))
            and pixels(outline.bounds, map_level) >= least
        ]
        for outline, shape in zip(large, _shapes_at(large, map_level), strict=True):
            if shape is not None:
                shapes[outline.number][map_level] = shape
    return shapes


def levels_of(size: int, bounds: Bounds) -> list[int]:
    """The levels for which ``map_shapes`` gives a boundary of ``size`` bytes a shape.

    Args:
        bounds: its box, in degrees.
    """
    levels = (level for level in MAP_LEVELS if not is_shown_whole(size, level))
    return [level for level in levels if pixels(bounds, level) >= MAP_LEAST_PIXELS]


def is_shown_whole(size: int, level: int | None) -> bool:
    """True if maps show a boundary of ``size`` bytes unchanged at this level: without a level, and
    at the largest one if it is short, as it would hardly lose a position."""
    return level is None or (level == MAP_LEVELS[0] and size <= MAP_SHORT_BYTES)


def _parse_outline(number: int, text: str) -> _Outline | None:
    """The outline of a boundary; None: the text is none."""
    try:
        rings = stored_rings(text)
        sides = (rings.lon.min(), rings.lat.min(), rings.lon.max(), rings.lat.max())
    except (ValueError, TypeError, LookupError):
        return None
    return _Outline(number, rings, Bounds(*map(float, sides)))


def _shapes_at(outlines: Sequence[_Outline], level: int) -> list[str | None]:
    """The shapes of boundaries for one level; None for one that is not valid."""
    if not outlines:
        return []
    try:
        polygons = _polygons_of_outlines(
            _without_collapsed(_simplify_rings(outlines, level)), outlines
        )
    except (ValueError, TypeError, LookupError, GEOSException):
        if len(outlines) == 1:
            return [None]
        return [shape for outline in outlines for shape in _shapes_at([outline], level)]
    return [
        _polygons_text(coordinates) if coordinates else point_shape(outline.bounds, level)
        for outline, coordinates in zip(outlines, polygons, strict=True)
    ]


def _simplify_rings(outlines: Sequence[_Outline], level: int) -> _FewerRings:
    """The rings of boundaries, simplified and rounded for a level, without repeated positions.

    All of them are simplified in one call of GEOS.
    """
    boundaries = [outline.rings for outline in outlines]
    sizes = np.concatenate([np.diff(rings.starts) for rings in boundaries])
    rings_of_parts = np.concatenate([np.diff(rings.part_starts) for rings in boundaries])
    # Web Mercator stretches latitudes by 1 / cos(latitude). Here the whole of a boundary is
    # stretched as where it is nearest to a pole, so that the tolerance is never too coarse.
    north = [1 / math.cos(math.radians(_most_polar(outline.bounds))) for outline in outlines]
    stretch = np.repeat(north, [len(rings.starts) - 1 for rings in boundaries])  # by ring
    index, piece, ring_of_piece = _divide_rings(sizes)
    lon = np.concatenate([rings.lon for rings in boundaries])
    lat = np.concatenate([rings.lat for rings in boundaries])
    positions = np.column_stack([lon, lat])
    positions[:, 1] *= np.repeat(stretch, sizes)
    lines: Any = shapely.linestrings(positions[index], indices=piece)
    tolerance = _TOLERANCE_PIXELS * _pixel_degrees(level)
    fewer = shapely.simplify(lines, tolerance, preserve_topology=False)
    points, line = shapely.get_coordinates(fewer, return_index=True)
    ring = ring_of_piece[line]
    points[:, 1] /= stretch[ring]
    steps = 10.0 ** decimals(level)
    points = np.rint(points * steps) / steps
    # Pieces share their ends, and rounding moves positions onto each other.
    is_new = _starts_ring(ring)
    is_new[1:] |= (points[1:] != points[:-1]).any(axis=1)
    part = np.repeat(np.arange(len(rings_of_parts)), rings_of_parts)
    return _FewerRings(points[is_new], ring[is_new], part, is_exterior=_starts_ring(part))


def _divide_rings(sizes: Integers) -> tuple[Integers, Integers, Integers]:
    """Divide rings into pieces, each of which begins where the one before ends.

    Args:
        sizes: the number of positions of each ring.

    Returns:
        The indices of the positions of all pieces, in order; the piece of each of these; and the
        ring of each piece.
    """
    numbers = np.arange(len(sizes))
    if sizes.max() <= _PIECE_SEGMENTS:  # each ring is one piece
        return np.arange(sizes.sum()), np.repeat(numbers, sizes), numbers
    ends = np.cumsum(sizes)
    pieces = [
        (ring, np.arange(first, min(first + _PIECE_SEGMENTS, end - 1) + 1))
        for ring, (start, end) in enumerate(zip(ends - sizes, ends, strict=True))
        for first in range(start, end - 1, _PIECE_SEGMENTS)
    ]
    rings, indices = zip(*pieces, strict=True)
    lengths = np.array(list(map(len, indices)))
    return np.concatenate(indices), np.repeat(np.arange(len(lengths)), lengths), np.array(rings)


def _without_collapsed(rings: _FewerRings) -> _FewerRings:
    """Leave out parts that have become one position, and holes without an area.

    An exterior ring that has become a line, there and back, gets the fourth position that GeoJSON
    requires.
    """
    points, ring, part, is_exterior = rings
    size = np.bincount(ring, minlength=len(part))
    if size.min() > _FLAT_RING:
        return rings
    is_left = np.where(is_exterior, size > 1, size > _FLAT_RING)
    is_left &= is_left[np.flatnonzero(is_exterior)][part]  # a hole goes with its exterior ring
    second = np.flatnonzero(_starts_ring(ring)) + 1
    repeated = second[(is_exterior & (size == _FLAT_RING))[ring[second - 1]]]
    points = np.insert(points, repeated, points[repeated], axis=0)
    ring = np.insert(ring, repeated, ring[repeated])
    is_point_left = is_left[ring]
    return rings._replace(points=points[is_point_left], ring=ring[is_point_left])


def _polygons_of_outlines(rings: _FewerRings, outlines: Sequence[_Outline]) -> list[list[Any]]:
    """The polygons of each boundary, as GeoJSON ``coordinates``."""
    starts = np.flatnonzero(_starts_ring(rings.ring))
    parts = rings.part[rings.ring[starts]].tolist()
    ends = [*starts.tolist(), len(rings.points)]
    positions = rings.points.tolist()
    polygons: list[list[Any]] = [[] for _ in range(int(rings.part[-1]) + 1)]  # by part
    for part, (begin, end) in zip(parts, pairwise(ends), strict=True):
        polygons[part].append(positions[begin:end])
    rest = iter(polygons)
    counts = (len(outline.rings.part_starts) - 1 for outline in outlines)
    return [[polygon for polygon in islice(rest, count) if polygon] for count in counts]


def _polygons_text(polygons: list[Any]) -> str:
    """GeoJSON of a Polygon or a MultiPolygon."""
    if len(polygons) == 1:
        return _geometry_text("Polygon", polygons[0])
    return _geometry_text("MultiPolygon", polygons)


def point_shape(bounds: Bounds, zoom: int) -> str:
    """The middle of a box as GeoJSON of a Point, for a shape smaller than a pixel."""
    places, longitude = decimals(zoom), (bounds.west + bounds.east) / 2
    if longitude > 180:  # past the antimeridian
        longitude -= 360
    latitude = (bounds.south + bounds.north) / 2
    return _POINT.format(round(longitude, places), round(latitude, places))


def _starts_ring(ring: Integers) -> Booleans:
    """True for each position that is the first of its ring."""
    starts: Booleans = np.ones(len(ring), bool)
    starts[1:] = ring[1:] != ring[:-1]
    return starts


def _geometry_text(kind: str, coordinates: Any) -> str:
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
