"""An estimate of the time that validating a boundary takes.

GEOS cuts the rings into runs of edges that head the same way (monotone chains), and compares the
runs whose boxes overlap. Then it locates each ring in every other ring whose box it overlaps,
position by position. In real boundaries few boxes overlap. In one that was made to be expensive
nearly all do, and the time grows with the square of its size: minutes for 100,000 positions. So the
boxes that overlap are counted, each with the most that comparing it takes: first the boxes of
groups, which is quick and never too low, and then each pair if need be.

The estimate is never too low, and often a hundred times too high. So it only decides which
boundaries need a process of their own that can be ended (``app.geometry.timed``).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import shapely

from app.geometry.rings import Booleans, Floats, Integers, Rings

SMALL: Final = 1_000
"""Fewer positions than this are validated within 30 ms, however they lie."""

_CHEAP: Final = 0.1  # seconds

_SECONDS_PER_EDGE: Final = 250e-9
"""Of a run that another one is compared with: twice what it takes where rings touch in one point,
ten times what it takes where edges lie side by side."""

_SECONDS_PER_POSITION: Final = 7e-9
"""Of a ring that another one is located in; and every ring takes as long as _RING positions."""

_RING: Final = 10

_RUN: Final = 64  # edges; there are so few longer runs that comparing them all takes 0.1 s
_GROUP: Final = 8  # runs, or rings
_PAIRS: Final = 500_000  # in memory at a time


Sides: TypeAlias = tuple[Floats, Floats, Floats, Floats]  # west, south, east, north


class Boxes(NamedTuple):
    """Boxes of runs or rings, and the seconds that it takes to compare another one with each.

    ``outside``: for one of another part; ``inside``: for one of the same ``part``.
    """

    sides: Sides
    outside: Floats
    inside: Floats
    part: Integers


def is_cheap_to_validate(rings: Rings) -> bool:
    """True if the validation takes a tenth of a second of processor time at worst."""
    if len(rings.lon) <= SMALL:
        return True
    runs, parts = _run_boxes(rings), _ring_boxes(rings)
    return (
        _comparing_seconds(_grouped_boxes(runs)) + _comparing_seconds(_grouped_boxes(parts))
        <= _CHEAP
        or _comparing_seconds(runs) + _comparing_seconds(parts) <= _CHEAP
    )


def _run_boxes(rings: Rings) -> Boxes:
    """The boxes of the runs. As in GEOS, a repeated position makes no edge."""
    lon, lat = rings.lon, rings.lat
    eastward, northward = np.diff(lon), np.diff(lat)
    is_edge: Booleans = (eastward != 0) | (northward != 0)
    is_edge[np.array(rings.starts[1:-1], int) - 1] = False  # from one ring to the next
    edges = np.flatnonzero(is_edge)
    ring = rings.of_position[edges]
    heading = 4 * ring + 2 * (eastward[edges] < 0) + (northward[edges] < 0)
    turns = np.flatnonzero(np.diff(heading, prepend=-1))
    since_turn = np.arange(len(edges)) - np.repeat(turns, np.diff(turns, append=len(edges)))
    firsts = np.flatnonzero(since_turn % _RUN == 0)
    sizes = np.diff(firsts, append=len(edges))
    start, end = edges[firsts], edges[firsts + sizes - 1] + 1
    seconds = sizes * _SECONDS_PER_EDGE
    low = np.minimum(lon[start], lon[end]), np.minimum(lat[start], lat[end])
    high = np.maximum(lon[start], lon[end]), np.maximum(lat[start], lat[end])
    return Boxes((*low, *high), seconds, seconds, ring[firsts])


def _ring_boxes(rings: Rings) -> Boxes:
    """The boxes of the rings. For another part, an exterior ring stands for its whole part."""
    starts, parts = np.array(rings.starts), np.array(rings.part_starts)
    inside = (np.diff(starts) + _RING) * _SECONDS_PER_POSITION
    outside = inside.copy()
    outside[parts[:-1]] = (np.diff(starts[parts]) + _RING) * _SECONDS_PER_POSITION
    part = np.repeat(np.arange(len(parts) - 1), np.diff(parts))
    sides = _sides_around((rings.lon, rings.lat, rings.lon, rings.lat), starts[:-1])
    return Boxes(sides, outside, inside, part)


def _grouped_boxes(boxes: Boxes) -> Boxes:
    """Boxes around _GROUP neighbors each, as if every member were compared with every other."""
    starts = np.arange(0, len(boxes.part), _GROUP)
    seconds = np.add.reduceat(boxes.outside, starts) * _GROUP
    return Boxes(_sides_around(boxes.sides, starts), seconds, seconds, starts)


def _sides_around(sides: Sides, starts: Integers) -> Sides:
    """The sides of the boxes around all boxes from each start to the next one."""
    west, south, east, north = sides
    return (
        np.minimum.reduceat(west, starts),
        np.minimum.reduceat(south, starts),
        np.maximum.reduceat(east, starts),
        np.maximum.reduceat(north, starts),
    )


def _comparing_seconds(boxes: Boxes) -> float:
    """The seconds that it takes to compare all boxes with those that they overlap, and themselves.

    The count ends where that is more than _CHEAP.
    """
    corners = np.stack(boxes.sides, axis=1).reshape(-1, 2, 2)
    diagonals: Any = shapely.linestrings(corners)  # cheaper than polygons of the same box
    tree = shapely.STRtree(diagonals)
    total, step = 0.0, 1 + _PAIRS // (len(diagonals) or 1)
    for start in range(0, len(diagonals), step):
        index, other = tree.query(diagonals[start : start + step])
        is_inside = boxes.part[start + index] == boxes.part[other]
        total += float(np.where(is_inside, boxes.inside[other], boxes.outside[other]).sum())
        if total > _CHEAP:
            break
    return total
