"""Bounding boxes, which may cross the antimeridian."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from app.geometry.rings import Floats, Rings

NUMBER: Final = re.compile(r"[+-]?(\d++(\.\d*+)?|\.\d++)([eE][+-]?\d++)?", re.ASCII)


class Bounds(NamedTuple):
    """A box in degrees, unwrapped: ``west`` is within ±180, and never past ``east``.

    A box that crosses the antimeridian has ``east`` past 180: from 170°E to 170°W is west=170,
    east=190. The full circle is west=-180, east=180. Two boxes overlap if they have a point in
    common, also on an edge, perhaps after one is shifted by ±360 degrees of longitude.
    """

    west: float
    south: float
    east: float
    north: float


WORLD: Final = Bounds(-180, -90, 180, 90)
_RADIUS: Final = 6_400_000  # meters; the Earth's is nowhere larger
_BULGE: Final = 1.05  # an area can exceed its box by this, as its edges are geodesics


def box_around(*boxes: Bounds | None) -> Bounds | None:
    """The box around unwrapped boxes; None if there are none."""
    known_boxes = [box for box in boxes if box is not None]
    if not known_boxes:
        return None
    wests, souths, easts, norths = zip(*known_boxes, strict=True)
    return Bounds(min(wests), min(souths), max(easts), max(norths))


def tightest_box(boxes: Iterable[Bounds]) -> Bounds | None:
    """The smallest box around unwrapped boxes, across the antimeridian if that is smaller; None if
    there are none."""
    sides = list(boxes)
    if not sides:
        return None
    wests, souths, easts, norths = zip(*sides, strict=True)
    west, east = _tightest_interval(sorted(zip(wests, easts, strict=True)))
    return Bounds(west, min(souths), east, max(norths))


def bbox_member(box: Bounds) -> list[float]:
    """A box as the member of GeoJSON (RFC 7946, section 5): west is greater than east if it crosses
    the antimeridian."""
    return [box.west, box.south, box.east - 360 if box.east > 180 else box.east, box.north]


def wrapped_box(box: Bounds) -> Bounds:
    """A box with longitudes within ±180: one across the antimeridian becomes the whole circle."""
    return box._replace(west=-180.0, east=180.0) if box.east > 180 else box


def middle_of_box(box: Bounds) -> tuple[float, float]:
    """The longitude, within ±180, and the latitude of the middle of a box."""
    return ((box.west + box.east) / 2 + 180) % 360 - 180, (box.south + box.north) / 2


def max_common_area(boxes: Floats, others: Floats) -> Floats:
    """An upper bound of the square meters that areas in two boxes have in common.

    Args:
        boxes, others: arrays of shape (n, 4), the sides in the order of ``Bounds``. Either may be a
            single box, which is compared with each of the others.
    """
    west, south, east, north = boxes.T
    other_west, other_south, other_east, other_north = others.T
    width: Floats = np.zeros(1)
    for turn in (-360, 0, 360):
        common = np.minimum(east, other_east + turn) - np.maximum(west, other_west + turn)
        width = width + np.maximum(common, 0)
    top, bottom = np.minimum(north, other_north), np.maximum(south, other_south)
    height = np.maximum(np.sin(np.radians(top)) - np.sin(np.radians(bottom)), 0)
    area: Floats = _BULGE * _RADIUS**2 * np.radians(width) * height
    return area


def read_bbox(text: str) -> Bounds:
    """Read "minLon,minLat,maxLon,maxLat" in degrees.

    A minLon past maxLon means a box that crosses the antimeridian (RFC 7946 section 5.2); it is
    returned unwrapped. Raises ValueError with one clear sentence.
    """
    numbers = text.split(",")
    if len(numbers) != 4:
        raise ValueError('A bbox is four numbers, "minLon,minLat,maxLon,maxLat".')
    for number in numbers:
        if not NUMBER.fullmatch(number):
            raise ValueError(
                f'A bbox is four numbers separated by commas; "{number[:40]}" is not a number.'
            )
    west, south, east, north = map(float, numbers)
    if max(abs(west), abs(east)) > 180:
        raise ValueError(
            "The first and third number of a bbox, its longitudes, must be within ±180."
        )
    if max(abs(south), abs(north)) > 90:
        raise ValueError(
            "The second and fourth number of a bbox, its latitudes, must be within ±90."
        )
    if south > north:
        raise ValueError("Send the southern latitude second and the northern latitude fourth.")
    return Bounds(west, south, east + 360 if west > east else east, north)


def boundary_bounds(rings: Rings) -> Bounds:
    """Return the smallest box around a boundary, across the antimeridian if that is smaller."""
    firsts = [rings.starts[ring] for ring in rings.exteriors]
    intervals = zip(
        np.minimum.reduceat(rings.lon, firsts).tolist(),
        np.maximum.reduceat(rings.lon, firsts).tolist(),
        strict=True,
    )
    west, east = _tightest_interval(sorted(intervals))
    return Bounds(west, float(rings.lat.min()), east, float(rings.lat.max()))


def _tightest_interval(intervals: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the smallest interval of the circle that contains all intervals, sorted by west.

    It is the complement of the largest gap. On a tie the gap at the antimeridian counts, so that a
    box crosses it only where that makes the box smaller.
    """
    first, reach = intervals[0]
    gaps = []
    for west, east in intervals[1:]:
        gaps.append((west - reach, west, reach))
        reach = max(reach, east)
    widest, west, east = max(gaps, default=(0.0, first, reach), key=lambda gap: gap[0])
    if widest > max(first + 360 - reach, 0):
        return west, max(east + 360, reach)  # one of them may itself cross the antimeridian
    return (first, reach) if reach < first + 360 else (-180.0, 180.0)
