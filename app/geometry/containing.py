"""Whether a position is within a boundary."""

from __future__ import annotations

import numpy as np

from app.geometry.rings import Rings


def contains(rings: Rings, longitude: float, latitude: float) -> bool:
    """Whether a position in degrees is within the parts of a valid boundary and not in a hole:
    whether an odd number of edges cross the line from it to the east."""
    is_above = rings.lat > latitude
    is_crossed = is_above[1:] != is_above[:-1]
    is_crossed[np.array(rings.starts[1:-1], dtype=np.intp) - 1] = False  # from one ring to the next
    start = np.flatnonzero(is_crossed)
    x1, y1 = rings.lon[start], rings.lat[start]
    x2, y2 = rings.lon[start + 1], rings.lat[start + 1]
    crossed_at = x1 + (x2 - x1) * (latitude - y1) / (y2 - y1)
    return bool(np.count_nonzero(crossed_at > longitude) % 2)
