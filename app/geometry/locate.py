"""Locating a fault that GEOS found: which rings, and which of their edges, go through it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from app.geometry.rings import Booleans, Floats, Integers, Rings

_NEAR = 1e-11
"""Degrees, about a micrometer: GEOS computes crossings more precisely and prints 15 digits."""


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
    found: dict[int, int] = {}
    for index in segments_at(rings.lon, rings.lat, fault, usable).tolist():
        ring = int(ring_of[index])
        found.setdefault(ring, index - rings.starts[ring])
    return found


def segments_at(
    lon: Floats, lat: Floats, fault: FaultLocation, usable: Booleans | None = None
) -> Integers:
    """Return the start indices of the segments through a location, or else of the nearest.

    Segment i goes from position i to i + 1. One that ends at the location does not count: the next
    one starts there, so a fault at a position has the index of that position.
    """
    x, y = lon - fault.lon, lat - fault.lat
    distance = _distances(x, y)
    if usable is not None:
        distance[~usable] = np.inf
    near = distance <= max(_NEAR, distance.min())
    ends = np.hypot(x[1:], y[1:]) <= _NEAR
    return np.flatnonzero(near & ~ends) if (near & ~ends).any() else np.flatnonzero(near)


def _distances(x: Floats, y: Floats) -> Floats:
    """Return the distance of each segment of a line from the origin."""
    dx, dy = np.diff(x), np.diff(y)
    squared = dx * dx + dy * dy
    along = -(x[:-1] * dx + y[:-1] * dy) / np.where(squared > 0, squared, 1)
    share = np.clip(along, 0, 1)
    distances: Floats = np.hypot(x[:-1] + share * dx, y[:-1] + share * dy)
    return distances
