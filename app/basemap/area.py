"""The tiles of an area: those that touch one of several boxes, in each zoom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from pmtiles.tile import zxy_to_tileid

from app.geometry.bounding_boxes import Bounds

_KM_PER_DEGREE: Final = 111.32  # of latitude
_EDGE: Final = 85.051129  # degrees of latitude; maps of tiles end there


class Tiles(NamedTuple):
    """A rectangle of tiles of one zoom, with its edges; y grows southwards."""

    west: int
    north: int
    east: int
    south: int


IdRanges = Sequence[tuple[int, int]]  # ids of tiles: first, and first beyond; ascending, apart


def widened(box: Bounds, km: float) -> Bounds:
    """Return a box with a margin around it."""
    degrees = km / _KM_PER_DEGREE
    south, north = max(box.south - degrees, -90.0), min(box.north + degrees, 90.0)
    wide = degrees / math.cos(math.radians(min(max(abs(south), abs(north)), _EDGE)))
    return Bounds(box.west - wide, south, box.east + wide, north)


def touched_tiles(boxes: Iterable[Bounds], zoom: int) -> set[Tiles]:
    """Return the rectangles of tiles that boxes touch; two for one across the antimeridian."""
    size = 1 << zoom
    found = set[Tiles]()
    for box in boxes:
        west, east = (math.floor((lon + 180) / 360 * size) for lon in (box.west, box.east))
        north, south = (_row(lat, size) for lat in (box.north, box.south))
        if east - west >= size:
            west, east = 0, size - 1
        west, east = west % size, east % size
        sides = [(west, east)] if west <= east else [(west, size - 1), (0, east)]
        found.update(Tiles(left, north, right, south) for left, right in sides)
    return found


def bounds_of(rectangles: Iterable[Tiles], zoom: int) -> Bounds:
    """Return the box around rectangles of tiles."""
    size = 1 << zoom
    wests, norths, easts, souths = zip(*rectangles, strict=True)
    south, north = (
        math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * row / size))))
        for row in (max(souths) + 1, min(norths))
    )
    west, east = (360 * column / size - 180 for column in (min(wests), max(easts) + 1))
    return Bounds(west, south, east, north)


def tile_ids(rectangles: Iterable[Tiles], zoom: int) -> IdRanges:
    """Return the ids of the tiles of rectangles, and of those that have them in all lower zooms.

    It takes time and memory for the edges of the area only: a tile within it has all the higher
    ones below it, whose ids follow each other.
    """
    found: list[tuple[int, int]] = []

    def visit(z: int, x: int, y: int, near: Sequence[Tiles]) -> None:
        more = zoom - z
        west, north = x << more, y << more
        east, south = (x + 1 << more) - 1, (y + 1 << more) - 1
        near = [
            box
            for box in near
            if box.west <= east and box.east >= west and box.north <= south and box.south >= north
        ]
        if not near:
            return
        number = zxy_to_tileid(z, x, y)
        is_within = any(
            box.west <= west and box.east >= east and box.north <= north and box.south >= south
            for box in near
        )
        place = number - _first_id(z)
        for below in range(more + 1 if is_within else 1):
            first = _first_id(z + below) + (place << 2 * below)
            found.append((first, first + (1 << 2 * below)))
        if not is_within:
            for child in range(4):
                visit(z + 1, 2 * x + child % 2, 2 * y + child // 2, near)

    visit(0, 0, 0, list(rectangles))
    return _joined(sorted(found))


def _joined(ranges: Iterable[tuple[int, int]]) -> IdRanges:
    joined: list[tuple[int, int]] = []
    for first, end in ranges:
        if joined and joined[-1][1] == first:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((first, end))
    return joined


def _first_id(zoom: int) -> int:
    """Return the id of the first tile of a zoom."""
    return ((1 << 2 * zoom) - 1) // 3


def _row(lat: float, size: int) -> int:
    lat = min(max(lat, -_EDGE), _EDGE)
    row = math.floor((1 - math.asinh(math.tan(math.radians(lat))) / math.pi) / 2 * size)
    return min(max(row, 0), size - 1)
