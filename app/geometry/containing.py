"""Whether a position is within a boundary."""

from __future__ import annotations

import numpy as np

from app.geometry.rings import Floats, Rings

_TURNS = (-360.0, 0.0, 360.0)  # a boundary across the antimeridian has longitudes beyond it


def contains(rings: Rings, longitude: float, latitude: float) -> bool:
    """Whether a position in degrees is within the parts of a boundary and not in a hole: whether an
    odd number of edges cross the line from it to the east."""
    crossed_at = np.concatenate(
        [
            _crossings(rings.lon[rings.span(ring)], rings.lat[rings.span(ring)], latitude)
            for ring in range(len(rings.starts) - 1)
        ]
    )
    counts = (np.count_nonzero(crossed_at > longitude + turn) for turn in _TURNS)
    return any(count % 2 == 1 for count in counts)


def _crossings(lon: Floats, lat: Floats, latitude: float) -> Floats:
    """The longitudes at which the edges of a ring cross a latitude. An edge goes the short way, so
    they can be beyond the antimeridian."""
    steps = np.diff(lon)
    steps -= 360 * np.round(steps / 360)
    x1 = lon[0] + np.concatenate([[0.0], np.cumsum(steps)[:-1]])
    y1, y2 = lat[:-1], lat[1:]
    crossed = (y1 > latitude) != (y2 > latitude)
    y1, y2 = y1[crossed], y2[crossed]
    at: Floats = x1[crossed] + steps[crossed] * (latitude - y1) / (y2 - y1)
    return at
