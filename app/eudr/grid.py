"""Positions of plots as whole millionths of a degree.

The Information System cuts off what is beyond six decimals. As it may do so in binary floating
point, where 4.000009 can be a little less, a position may lose a millionth there. So a plot has to
be valid both before and after that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from app.geometry import timed
from app.geometry.area import ring_area
from app.geometry.complexity import SMALL, is_cheap_to_validate
from app.geometry.polygons import polygon_rings
from app.geometry.rings import Rings
from app.policy.eudr import DECIMALS
from app.policy.request_limits import VALIDATION_SECONDS
from app.values.batching import batched_by_bytes

Grid = NDArray[np.int64]  # shape (n, 2): longitudes and latitudes in millionths of a degree

_UNITS: Final = 10**DECIMALS  # in a degree
_BATCH_POSITIONS: Final = 10 * SMALL
FEWEST_POSITIONS: Final = 4  # in a ring
SQUARE_METERS: Final = 10_000  # in a hectare


def grid_of_points(positions: NDArray[np.float64]) -> Grid:
    """Positions in degrees, rounded."""
    return np.rint(positions * _UNITS).astype(np.int64)


def grid_of_ring(rings: Rings, ring: int) -> Grid:
    """A ring of a boundary."""
    span = rings.span(ring)
    return without_repeats(grid_of_points(np.column_stack((rings.lon[span], rings.lat[span]))))


def grid_degrees(grid: Any) -> Any:
    """Positions in degrees."""
    return grid / _UNITS


def cut_off(grid: Grid) -> NDArray[np.float64]:
    """Positions as the system may read them, in millionths of a degree."""
    return np.trunc(grid / _UNITS * _UNITS)


def grid_text(grid: Grid) -> str:
    """Positions as GeoJSON, with all decimals."""
    flat = (grid / _UNITS + 0.0).ravel().tolist()
    return ",".join(["[%.6f,%.6f]"] * len(grid)) % tuple(flat)


def without_repeats(ring: Grid) -> Grid:
    """A ring whose consecutive positions differ, also once they are cut off."""
    is_new = np.any(np.diff(cut_off(ring), axis=0) != 0, axis=1)
    ring = ring[np.concatenate(([True], is_new))]
    ring[-1] = ring[0]
    return ring


def has_area(ring: Grid) -> bool:
    return len(ring) >= FEWEST_POSITIONS


def grid_hectares(ring: Grid) -> float:
    lon, lat = np.ascontiguousarray(ring.T / _UNITS)
    return ring_area(lon, lat) / SQUARE_METERS


def are_valid(rings: list[Grid], check: Callable[[], None]) -> list[bool]:
    """True for each ring that is valid, also after it is cut off.

    Args:
        check: called between steps of up to 0.6 s.
    """
    validity: list[bool] = []
    for batch in batched_by_bytes(rings, len, _BATCH_POSITIONS):
        validity += _are_valid_rings(batch)
        check()
    return validity


def _are_valid_rings(rings: list[Grid]) -> list[bool]:
    validity = [has_area(ring) for ring in rings]
    indexes = [index for index, is_valid in enumerate(validity) if is_valid]
    if not indexes:
        return validity
    sizes = [len(rings[index]) for index in indexes]
    written = np.concatenate([rings[index] for index in indexes])
    ring_of_position = np.repeat(np.arange(len(indexes)), sizes)
    for positions in (written, cut_off(written)):
        lines = shapely.linearrings(positions.astype(float), indices=ring_of_position)
        polygons = shapely.polygons(lines)
        for index, is_valid in zip(indexes, _are_valid_polygons(polygons, sizes), strict=True):
            validity[index] = validity[index] and bool(is_valid)
    return validity


def _are_valid_polygons(polygons: Any, sizes: list[int]) -> Any:
    """True for each polygon that is valid.

    Args:
        sizes: the number of positions of each.
    """
    if max(sizes) <= SMALL:
        return shapely.is_valid(polygons)
    return [is_valid_polygon(polygon) for polygon in polygons]


def is_valid_polygon(polygon: Any) -> bool:
    if is_cheap_to_validate(polygon_rings(polygon)):
        return bool(shapely.is_valid(polygon))
    return bool(timed.is_valid(polygon, VALIDATION_SECONDS)[0])
