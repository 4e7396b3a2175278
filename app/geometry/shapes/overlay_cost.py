"""An estimate of how long GEOS takes to overlay two boundaries, made before that is tried.

It cuts the edges of both where they meet, joins the pieces to rings and finds out which ring is in
which. How long that takes depends on how they lie: a thousand teeth of a comb across a thousand of
another one meet a million times. So the meetings are counted, first by the runs of edges and the
boxes of rings (as in ``complexity``), then edge by edge.

The estimate is of the first attempt. Where edges lie within some 1e-13 degrees of one another, it
can fail, and GEOS tries again with rounded positions, which takes up to ten times as long.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import shapely

from app.geometry.complexity import comparing_seconds, ring_boxes, run_boxes
from app.geometry.rings import Booleans, Floats, Integers, Rings

# Seconds, as measured with boundaries that were made to be expensive.
_EACH_EDGE: Final = 0.1e-6
_EACH_RUN: Final = 1.5e-6
_EACH_RING: Final = 5e-6
_RUN_PAIRS: Final = 0.4  # of the seconds that their validation can take
_EACH_RING_PAIR: Final = 0.3e-6  # of rings whose boxes overlap
_EACH_PASS: Final = 13e-9  # an edge at the latitude of a ring that is located in its boundary
_EACH_MEETING: Final = 1.8e-6  # of two edges whose boxes overlap, one of each boundary
_EACH_CROSSING: Final = 12e-6  # of two that cross
_EACH_CORNER: Final = 12e-9  # of three rings around a corner of the box in which they are cut

_GROUP: Final = 32  # edges
_PAIRS: Final = 500_000  # in memory at once


def overlay_seconds(one: Rings, other: Rings, most: float) -> float:
    """Return the processor seconds that an overlay of two valid boundaries can take.

    The count ends where that is more than ``most``.
    """
    at_worst = _EACH_CROSSING * len(one.lon) * len(other.lon)
    if at_worst <= most:
        return at_worst
    both = _joined(one, other)
    runs, rings = run_boxes(both), ring_boxes(both)
    total = _EACH_EDGE * len(both.lon) + _EACH_RUN * len(runs.part) + _EACH_RING * len(rings.part)
    total += _EACH_PASS * (_passes(one, other) + _passes(other, one))
    total += _EACH_CORNER * (_around_corners(one, other) + _around_corners(other, one))
    if total < most:
        each = np.full(len(rings.part), _EACH_RING_PAIR)
        total += comparing_seconds(rings._replace(inside=each, outside=each), most)
    if total < most:
        total += _RUN_PAIRS * comparing_seconds(runs, most / _RUN_PAIRS)
    return total if total > most else total + _seconds_of_meetings(one, other, most - total)


def _joined(one: Rings, other: Rings) -> Rings:
    """The rings of two boundaries, as if they were one."""
    starts = [*one.starts[:-1], *(start + len(one.lon) for start in other.starts)]
    parts = [*one.part_starts[:-1], *(start + len(one.starts) - 1 for start in other.part_starts)]
    lon, lat = np.concatenate((one.lon, other.lon)), np.concatenate((one.lat, other.lat))
    return Rings(lon, lat, starts, parts, True, b"")


def _passes(rings: Rings, other: Rings) -> int:
    """Count the edges that are passed when each ring is located in the other boundary, and each
    hole in its own."""
    starts = np.array(rings.starts[:-1])
    holes = np.delete(starts, rings.exteriors)
    return _edges_at(rings.lat[starts], other) + _edges_at(rings.lat[holes], rings)


def _edges_at(latitudes: Floats, rings: Rings) -> int:
    """Count the edges at each of the latitudes, and return the sum."""
    lat = rings.lat
    begun = np.searchsorted(np.sort(np.minimum(lat[:-1], lat[1:])), latitudes, side="right")
    ended = np.searchsorted(np.sort(np.maximum(lat[:-1], lat[1:])), latitudes, side="left")
    return int((begun - ended).sum())


def _around_corners(rings: Rings, other: Rings) -> int:
    """The cube of the largest number of rings around a corner of the other boundary's box.

    GEOS cuts both boundaries off at the box that they have in common, and so gives rings that lie
    in one another the same edges there.
    """
    west, south, east, north = ring_boxes(rings).sides
    lons, lats = (other.lon.min(), other.lon.max()), (other.lat.min(), other.lat.max())
    corners = [(lon, lat) for lon in lons for lat in lats]
    counts = [
        np.count_nonzero((west < lon) & (lon < east) & (south < lat) & (lat < north))
        for lon, lat in corners
    ]
    return int(max(counts)) ** 3


def _seconds_of_meetings(one: Rings, other: Rings, most: float) -> float:
    """The seconds that it takes to cut the edges of each boundary with those of the other one."""
    ones, others = _without_the_far(_edges_near(one, other), _edges_near(other, one))
    lines: Any = shapely.linestrings(others.reshape(-1, 2, 2))
    tree = shapely.STRtree(lines)
    total, step = 0.0, 1 + _PAIRS // (len(others) or 1)
    for start in range(0, len(ones), step):
        edges = ones[start : start + step]
        first, second = tree.query(shapely.linestrings(edges.reshape(-1, 2, 2)))
        crossings = _count_crossings(edges[first], others[second])
        total += _EACH_MEETING * len(first) + _EACH_CROSSING * crossings
        if total > most:
            break
    return total


def _edges_near(rings: Rings, other: Rings) -> Floats:
    """The edges that reach into the other boundary's box: (number, 4), both ends of each."""
    lon, lat = rings.lon, rings.lat
    is_near: Booleans = (
        (np.maximum(lon[:-1], lon[1:]) >= other.lon.min())
        & (np.minimum(lon[:-1], lon[1:]) <= other.lon.max())
        & (np.maximum(lat[:-1], lat[1:]) >= other.lat.min())
        & (np.minimum(lat[:-1], lat[1:]) <= other.lat.max())
    )
    is_near[np.array(rings.starts[1:-1], int) - 1] = False  # from one ring to the next
    near = np.flatnonzero(is_near)
    return np.stack((lon[near], lat[near], lon[near + 1], lat[near + 1]), axis=1)


def _without_the_far(ones: Floats, others: Floats) -> tuple[Floats, Floats]:
    """The edges of both that are in groups of neighbors whose boxes overlap."""
    if not (len(ones) and len(others)):
        return ones[:0], others[:0]
    boxes, other_boxes = _boxes_of_groups(ones), _boxes_of_groups(others)
    near, other_near = shapely.STRtree(other_boxes).query(boxes)
    return _members(ones, near), _members(others, other_near)


def _boxes_of_groups(edges: Floats) -> Any:
    """A line across the box of each group of _GROUP edges."""
    starts = np.arange(0, len(edges), _GROUP)
    low, high = np.minimum(edges[:, :2], edges[:, 2:]), np.maximum(edges[:, :2], edges[:, 2:])
    corners = (np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts))
    return shapely.linestrings(np.stack(corners, axis=1))


def _members(edges: Floats, groups: Integers) -> Floats:
    """The edges of some groups."""
    chosen = np.zeros(-(-len(edges) // _GROUP), bool)
    chosen[groups] = True
    members: Floats = edges[np.repeat(chosen, _GROUP)[: len(edges)]]
    return members


def _count_crossings(edges: Floats, others: Floats) -> int:
    """Count the pairs of edges that cross between their ends."""
    return int(np.count_nonzero(_are_parted(edges, others) & _are_parted(others, edges)))


def _are_parted(edges: Floats, lines: Floats) -> Booleans:
    """For each edge, True if its ends lie on different sides of a line."""
    lon, lat, to_lon, to_lat = lines.T
    first, second = (
        (to_lon - lon) * (edges[:, end + 1] - lat) - (to_lat - lat) * (edges[:, end] - lon)
        for end in (0, 2)
    )
    parted: Booleans = first * second < 0
    return parted
