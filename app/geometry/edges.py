"""Edges whose course longitude and latitude do not determine (RFC 7946 section 3.1.9).

The planar rules of validity and the geodesic area must mean the same edge. They do as long as an
edge spans less than 180° of longitude:

- More than 180° (also 360°, from -180 to 180): the shortest line goes the other way round, across
  the antimeridian. The error is ``antimeridian``.
- Exactly 180°: the shortest line crosses a pole, and both directions have the same length. The
  error is ``ambiguous_edge``, unless one end of the edge is a pole: there every longitude is the
  same point, the line is the meridian of the other end, and its area is right.

A side along a pole, such as that of Antarctica from 180 to -180, is a point and has no length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from app.geometry.problems import Problem, describe_json_value
from app.geometry.rings import Rings


def edge_problems(rings: Rings) -> Iterator[Problem]:
    """Yield a problem for each edge that spans 180° of longitude or more."""
    spans = np.abs(np.diff(rings.lon))
    spans[np.array(rings.starts[1:-1], int) - 1] = 0  # from a ring's end to the next one's start
    at_pole = np.abs(rings.lat) == 90
    spans[at_pole[1:] & (rings.lat[:-1] == rings.lat[1:])] = 0
    ambiguous = (spans == 180) & ~(at_pole[:-1] | at_pole[1:])
    for index in np.flatnonzero((spans > 180) | ambiguous).tolist():
        yield _edge_problem(rings, index, spans[index] == 180)


def _edge_problem(rings: Rings, start: int, ambiguous: bool) -> Problem:
    """Return the problem of the edge from position ``start``, counted over all rings."""
    ring = bisect_right(rings.starts, start) - 1
    place = rings.place(ring).at(start - rings.starts[ring])
    (west, east), (lat, to_lat) = rings.lon[start : start + 2], rings.lat[start : start + 2]
    ends = f"{describe_json_value(float(west))} to {describe_json_value(float(east))}"
    message = f": the edge starting here goes from longitude {ends}"
    if ambiguous:
        message = (
            f"{message}, exactly halfway around the Earth, so it is unclear whether it runs east "
            "or west. Add a position in between."
        )
        return place.problem("ambiguous_edge", message, [float(west), float(lat)])
    message = (
        f"{message}, more than halfway around the Earth, so it crosses the antimeridian. Split the "
        "boundary there into a MultiPolygon with a part on each side. If the edge is meant to go "
        "the long way around, add positions in between."
    )
    return place.problem("antimeridian", message, _antimeridian_crossing(west, lat, east, to_lat))


def _antimeridian_crossing(lon: float, lat: float, to_lon: float, to_lat: float) -> list[float]:
    """Return where an edge meets the antimeridian, in the plane, on the side of its start."""
    side = 180.0 if lon > 0 else -180.0
    before, after = 180 - abs(lon), 180 - abs(to_lon)
    share = before / (before + after) if before + after else 0.0
    return [side, float(lat + share * (to_lat - lat))]
