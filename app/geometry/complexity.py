"""Whether a boundary can be checked in reasonable time.

Checking validity compares edges, and rings, whose bounding boxes overlap. In real boundaries few
do. In one that was made to be expensive nearly all do, and the time grows with the square of its
size: three minutes for 100,000 positions. So their number is estimated first, from a sample, and a
boundary past the limit is invalid.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from app.geometry.problems import Place, Problem
from app.geometry.rings import Floats, Rings

SMALL: Final = 4_000
"""Fewer boxes than this are compared in a quarter of a second, however they lie."""

MAX_EDGE_PAIRS: Final = 5e7
"""Edges with overlapping boxes: some 1.5 s. A coastline of 100,000 positions has 3e5."""

MAX_RING_PAIRS: Final = 4e6
"""Rings with overlapping boxes: some 2 s. The 3,500 islands of one district have 1e4."""

_SAMPLE_SIZE: Final = 128


class _Boxes(NamedTuple):
    west: Floats
    south: Floats
    east: Floats
    north: Floats


def complexity_problem(rings: Rings) -> Problem | None:
    """The problem of a boundary that would take too long to check, or None."""
    if (
        _pairs(_edge_boxes(rings)) <= MAX_EDGE_PAIRS
        and _pairs(_ring_boxes(rings)) <= MAX_RING_PAIRS
    ):
        return None
    message = (
        "is too intricate to be checked: too many edges or rings lie across each other. "
        "Simplify the boundary, or split it into several projects."
    )
    return Place().problem("too_complex", message)


def _edge_boxes(rings: Rings) -> _Boxes:
    """The boxes of all edges; those between two rings count too, as they are few."""
    lon, lat = rings.lon, rings.lat
    return _Boxes(
        np.minimum(lon[:-1], lon[1:]),
        np.minimum(lat[:-1], lat[1:]),
        np.maximum(lon[:-1], lon[1:]),
        np.maximum(lat[:-1], lat[1:]),
    )


def _ring_boxes(rings: Rings) -> _Boxes:
    firsts = rings.starts[:-1]
    return _Boxes(
        np.minimum.reduceat(rings.lon, firsts),
        np.minimum.reduceat(rings.lat, firsts),
        np.maximum.reduceat(rings.lon, firsts),
        np.maximum.reduceat(rings.lat, firsts),
    )


def _pairs(boxes: _Boxes) -> float:
    """Estimate how many pairs of boxes overlap, by comparing a sample with all."""
    count = len(boxes.west)
    if count < SMALL:
        return 0
    # Evenly spaced by the golden ratio, which fits no pattern in the data; no randomness, so that
    # the same boundary always has the same result.
    chosen = (np.arange(_SAMPLE_SIZE) * (0.6180339887498949 * count)).astype(int) % count
    overlapping = sum(
        np.count_nonzero(
            (boxes.west <= boxes.east[one])
            & (boxes.east >= boxes.west[one])
            & (boxes.south <= boxes.north[one])
            & (boxes.north >= boxes.south[one])
        )
        for one in chosen.tolist()
    )
    return overlapping / _SAMPLE_SIZE * count / 2
