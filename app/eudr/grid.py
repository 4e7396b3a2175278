"""Positions of plots as whole millionths of a degree.

The Information System cuts off what is beyond six decimals. As it may do so in binary floating
point, where 4.000009 can be a little less, a position may lose a millionth there. So a plot has to
be valid both before and after that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from app.geometry.area import ring_area
from app.policy.eudr import DECIMALS

Grid = NDArray[np.int64]  # shape (n, 2): longitudes and latitudes in millionths of a degree

_UNITS: Final = 10**DECIMALS  # in a degree
FEWEST_POSITIONS: Final = 4  # in a ring
SQUARE_METERS: Final = 10_000  # in a hectare


def grid_of_points(positions: NDArray[np.float64]) -> Grid:
    """Positions in degrees, rounded."""
    return np.rint(positions * _UNITS).astype(np.int64)


def has_more_decimals(positions: NDArray[np.float64]) -> bool:
    """True if positions in degrees change when they are rounded."""
    units = positions * _UNITS
    return bool(np.any(np.abs(units - np.rint(units)) > 1e-3))


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


def without_repeats(positions: Grid, starts: Sequence[int]) -> list[Grid]:
    """Rings whose consecutive positions differ, also once they are cut off.

    Args:
        starts: the index of the first position of each ring, and the number of all positions.
    """
    is_kept = np.ones(len(positions), bool)
    is_kept[1:] = np.any(np.diff(cut_off(positions), axis=0) != 0, axis=1)
    is_kept[starts[:-1]] = True
    kept, ends = positions[is_kept], np.cumsum(is_kept)[np.array(starts[1:]) - 1]
    begins = np.append(0, ends[:-1])
    kept[ends - 1] = kept[begins]
    return [kept[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]


def has_area(ring: Grid) -> bool:
    return len(ring) >= FEWEST_POSITIONS


def grid_hectares(ring: Grid) -> float:
    lon, lat = np.ascontiguousarray(ring.T / _UNITS)
    return ring_area(lon, lat) / SQUARE_METERS


def are_valid(rings: list[Grid]) -> list[bool]:
    """True for each ring that is valid, also after it is cut off."""
    indexes = [index for index, ring in enumerate(rings) if has_area(ring)]
    validity = np.zeros(len(rings), bool)
    if indexes:
        sizes = [len(rings[index]) for index in indexes]
        written = np.concatenate([rings[index] for index in indexes])
        readings = [linear_rings(positions, sizes) for positions in (written, cut_off(written))]
        validity[indexes] = shapely.is_valid(shapely.polygons(readings)).all(axis=0)
    return [bool(is_valid) for is_valid in validity]


def linear_rings(positions: Any, sizes: Sequence[int]) -> Any:
    """An array of shapely's rings.

    Args:
        positions: of all rings, one after the other.
        sizes: the number of positions of each.
    """
    return shapely.linearrings(positions, indices=np.repeat(np.arange(len(sizes)), sizes))
