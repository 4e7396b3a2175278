"""Locating a fault that GEOS found: which rings, and which of their edges, go through it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import shapely

from app.geometry.rings import Booleans, Floats, Integers, Rings
from app.geometry.timed import processor_seconds

NEAR = 1e-11
"""Degrees, about a micrometer: GEOS computes crossings more precisely and prints 15 digits."""

_PAIRS: Final = 20_000  # edges that are compared at a time


class FaultLocation(NamedTuple):
    """A fault that GEOS reports: its reason, and its location in degrees."""

    reason: str
    lon: float
    lat: float

    def __str__(self) -> str:
        """The location for a message; a problem's ``coordinates`` have more digits."""
        return f"[{self.lon:.10g}, {self.lat:.10g}]"

    @property
    def coordinates(self) -> list[float]:
        """The location as [longitude, latitude]."""
        return [self.lon, self.lat]


def fault_location(validity: str) -> FaultLocation | None:
    """Return the fault that GEOS reports of a geometry; None when it is valid.

    Args:
        validity: such as "Self-intersection[0.5 0.5]", with 15 digits.
    """
    reason, _, place = validity.partition("[")
    if not place:
        return None
    lon, lat = map(float, place.rstrip("]").split())
    return FaultLocation(reason, lon, lat)


def rings_at(rings: Rings, candidates: list[int], fault: FaultLocation) -> dict[int, int]:
    """Return the candidate rings that go through a location, each with its first edge there.

    When none goes through it exactly, this is the nearest one, so the result is never empty.
    """
    ring_of = rings.of_position
    usable = (ring_of[:-1] == ring_of[1:]) & np.isin(ring_of[:-1], candidates)
    first_edges: dict[int, int] = {}
    for index in segments_at(rings.lon, rings.lat, fault, usable).tolist():
        ring = int(ring_of[index])
        first_edges.setdefault(ring, index - rings.starts[ring])
    return first_edges


def segments_at(
    lon: Floats, lat: Floats, fault: FaultLocation, usable: Booleans | None = None
) -> Integers:
    """Return the start indices of the segments through a location, or else of the nearest.

    Segment i goes from position i to i + 1. One that ends at the location does not count: the next
    one starts there, so a fault at a position has the index of that position.
    """
    x, y = lon - fault.lon, lat - fault.lat
    distance = _distances_from_origin(x, y)
    if usable is not None:
        distance[~usable] = np.inf
    near = distance <= max(NEAR, distance.min())
    ends = np.hypot(x[1:], y[1:]) <= NEAR
    return np.flatnonzero(near & ~ends) if (near & ~ends).any() else np.flatnonzero(near)


def self_crossings(lon: Floats, lat: Floats, end: float) -> Iterator[FaultLocation]:
    """Yield the places where edges of a ring cross or touch that are not neighbors, in the order of
    the edges.

    Args:
        end: the search ends at this time, by ``timed.processor_seconds``.
    """
    is_new = np.append(True, (np.diff(lon) != 0) | (np.diff(lat) != 0))
    positions = np.column_stack((lon[is_new], lat[is_new]))
    edges: Any = shapely.linestrings(np.stack((positions[:-1], positions[1:]), axis=1))
    tree, last = shapely.STRtree(edges), len(edges) - 1
    start, step = 0, 1  # more and more, as the first crossings are often enough
    places: set[tuple[float, float]] = set()
    while start < len(edges):
        edge, other = tree.query(edges[start : start + step], "intersects")
        edge += start
        apart = (other - edge > 1) & ((edge > 0) | (other < last))
        for first, second in sorted(zip(edge[apart].tolist(), other[apart].tolist(), strict=True)):
            x, y = shapely.get_coordinates(shapely.intersection(edges[first], edges[second]))[0]
            place = round(float(x), 11), round(float(y), 11)
            if place not in places:
                places.add(place)
                yield FaultLocation("Self-intersection", float(x), float(y))
            if processor_seconds() > end:
                return
        if processor_seconds() > end:
            return
        start, step = start + step, min(2 * step, 1 + _PAIRS // len(edges))


def _distances_from_origin(x: Floats, y: Floats) -> Floats:
    """Return the distance of each segment of a line from the origin."""
    dx, dy = np.diff(x), np.diff(y)
    squared = dx * dx + dy * dy
    along = -(x[:-1] * dx + y[:-1] * dy) / np.where(squared > 0, squared, 1)
    share = np.clip(along, 0, 1)
    distances: Floats = np.hypot(x[:-1] + share * dx, y[:-1] + share * dy)
    return distances
