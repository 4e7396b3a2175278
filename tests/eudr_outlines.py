"""Outlines of made-up plots, in three countries, each in a cell of its own.

A cell is a hundredth of a degree; what is drawn in it stays within 480 m of its middle, so that
plots of different cells are apart.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from pyproj import Geod

Position = tuple[float, float]
Ring = list[list[float]]

CELL: Final = 0.01  # degrees
REACH: Final = 480.0  # meters from the middle of a cell
DECIMALS: Final = (6, 6, 6, 7, 8, 15)  # of which plots have one by chance

# West, south, east, north: land of one country, away from lakes. In Ecuador, the equator goes
# through the middle of cells: truncation changes its direction there.
REGIONS: Final = {
    "GH": (-2.4, 5.8, -1.5, 7.2),
    "CI": (-6.4, 5.6, -5.6, 6.6),
    "EC": (-79.6, -0.905, -79.1, 0.295),
}

_GEOD: Final = Geod(ellps="WGS84")
_METERS: Final = 111_320.0  # of a degree at the equator
_MICRO: Final = 1e6


class Cell(NamedTuple):
    """The middle of a cell."""

    longitude: float
    latitude: float

    def position(self, east: float, north: float, decimals: int) -> list[float]:
        """The position so many meters from the middle."""
        longitude = self.longitude + east / (_METERS * math.cos(math.radians(self.latitude)))
        return [round(longitude, decimals), round(self.latitude + north / _METERS, decimals)]


def cells(country: str) -> list[Cell]:
    """All cells of a country's region."""
    west, south, east, north = REGIONS[country]
    columns, rows = round((east - west) / CELL), round((north - south) / CELL)
    return [
        Cell(round(west + (x + 0.5) * CELL, 3), round(south + (y + 0.5) * CELL, 3))
        for x in range(columns)
        for y in range(rows)
    ]


def hectares(geometry: dict[str, Any]) -> float:
    """The geodesic area of a Polygon or MultiPolygon on WGS 84, less its holes."""
    coordinates = geometry["coordinates"]
    parts = [coordinates] if geometry["type"] == "Polygon" else coordinates
    return sum(_ring_hectares(part[0]) - sum(map(_ring_hectares, part[1:])) for part in parts)


def _ring_hectares(ring: Ring) -> float:
    longitudes, latitudes = zip(*ring, strict=True)
    return abs(_GEOD.polygon_area_perimeter(longitudes, latitudes)[0]) / 10_000


# Sound outlines


def star(
    rng: random.Random, cell: Cell, area: float, corners: int, off: Position = (0.0, 0.0)
) -> Ring:
    """An irregular ring around a point, of about so many hectares.

    Args:
        off: the point, in meters from the middle of the cell.
    """
    turn, step = rng.uniform(0, math.tau), math.tau / corners
    angles = [turn + step * (number + rng.uniform(-0.3, 0.3)) for number in range(corners)]
    radii = [rng.uniform(0.55, 1.0) for _ in angles]
    doubled = sum(
        radii[i - 1] * radii[i] * math.sin(angles[i] - angles[i - 1]) for i in range(1, corners)
    ) + radii[-1] * radii[0] * math.sin(angles[0] + math.tau - angles[-1])
    size = math.sqrt(area * 20_000 / doubled)
    decimals = rng.choice(DECIMALS)
    ring = [
        cell.position(off[0] + size * r * math.cos(a), off[1] + size * r * math.sin(a), decimals)
        for a, r in zip(angles, radii, strict=True)
    ]
    return [*ring, ring[0]]


def polygon(rng: random.Random, cell: Cell, area: float | None = None) -> dict[str, Any]:
    """A Polygon of 4 to 40 corners and 0.2 to 20 ha, small ones more often."""
    area = area or 0.2 * 100 ** rng.random()
    off = rng.uniform(-40, 40), rng.uniform(-40, 40)
    return {"type": "Polygon", "coordinates": [star(rng, cell, area, rng.randint(4, 40), off)]}


def multipolygon(rng: random.Random, cell: Cell) -> dict[str, Any]:
    """A MultiPolygon of two or three parts, each of 0.1 to 2 ha."""
    places = ((-250.0, -200.0), (250.0, -200.0), (0.0, 250.0))[: rng.randint(2, 3)]
    rings = [
        star(rng, cell, 0.1 * 20 ** rng.random(), rng.randint(4, 20), place) for place in places
    ]
    return {"type": "MultiPolygon", "coordinates": [[ring] for ring in rings]}


def with_hole(rng: random.Random, cell: Cell) -> dict[str, Any]:
    """A Polygon of 5 to 15 ha with a hole of less than a hundredth of it."""
    area = rng.uniform(5, 15)
    rings = [star(rng, cell, area, rng.randint(8, 30)), star(rng, cell, area / 200, 6)]
    return {"type": "Polygon", "coordinates": rings}


def rectangle(cell: Cell, west: float, south: float, east: float, north: float) -> dict[str, Any]:
    """A Polygon by meters from the middle of a cell."""
    corners = ((west, south), (east, south), (east, north), (west, north), (west, south))
    return {"type": "Polygon", "coordinates": [[cell.position(x, y, 6) for x, y in corners]]}


def with_near_positions(rng: random.Random, cell: Cell) -> dict[str, Any]:
    """A Polygon with two positions in a row that are equal at six decimals."""
    corner = _magnitudes(cell)
    ring = [(0.0, 0.0), (2000.1, 0.1), (2000.3, 0.3), (2000.0, 2000.0), (0.0, 2000.0)]
    return _from(corner, ring)


# Outlines that are valid, and break at six decimals. They are drawn in millionths of a degree from
# a corner of whole millionths, away from the equator and Greenwich. All fractions are below a half,
# so that truncating and rounding are the same.


def touching(rng: random.Random, cell: Cell) -> dict[str, Any]:
    """The tip of a notch comes to lie on the opposite side."""
    tip = rng.randint(300, 1700)
    ring = [(0, 0.1), (2000, 0.1), (2000, 2000.1), (tip, 0.4), (0, 2000.1)]
    return _from(_magnitudes(cell), ring)


def touching_corners(rng: random.Random, cell: Cell) -> dict[str, Any]:
    """Two corners that face one another become one."""
    waist = rng.randint(300, 1700)
    ring = [(0, 0), (waist, 900.1), (2000, 0), (2000, 2000), (waist, 900.4), (0, 2000)]
    return _from(_magnitudes(cell), ring)


def overlapping(rng: random.Random, cell: Cell) -> dict[str, Any]:
    """The bottom of a notch comes to lie on the opposite side."""
    east = rng.randint(1200, 1700)
    ring = [(0, 0.1), (2000, 0.1), (2000, 2000.1), (east, 0.4), (500, 0.4), (0, 2000.1)]
    return _from(_magnitudes(cell), ring)


def crossing(rng: random.Random, cell: Cell) -> dict[str, Any]:
    """The tip of a notch comes to lie beyond the opposite side, which moves further than it."""
    tip = rng.randint(620, 780)
    ring = [(0, 1500.45), (0, 0), (tip, 1501.05), (1000, 0), (1000, 1501.45)]
    return _from(_magnitudes(cell), ring)


def collapsing(rng: random.Random, cell: Cell) -> dict[str, Any]:
    """A strip 3 cm wide becomes a line."""
    length = rng.randint(600, 2000)
    ring = [(0, 0.1), (length, 0.1), (length, 0.3), (length // 2, 0.45), (0, 0.3)]
    return _from(_magnitudes(cell), ring)


def part_collapsing(rng: random.Random, cell: Cell) -> dict[str, Any]:
    """A MultiPolygon, one of whose parts becomes a line."""
    strip = collapsing(rng, cell)["coordinates"]
    return {"type": "MultiPolygon", "coordinates": [[star(rng, cell, 2, 12, (-300, 0))], strip]}


def binary_touching(rng: random.Random, cell: Cell) -> dict[str, Any]:
    """Six decimals, with which it is valid. Truncated in binary floating point, the tip of a notch
    loses a millionth of a degree, and the opposite side does not. In cells of ``is_lossy``."""
    corner = _magnitudes(cell)
    across = 0 if _is_lossy(cell.longitude) else 1
    tip = next(
        number
        for number in range(corner[across] + rng.randint(100, 500), corner[across] + 2000)
        if math.trunc(number / _MICRO * _MICRO) == number - 1
        and math.trunc((number - 1) / _MICRO * _MICRO) == number - 1
    )
    base = tip - 1 - corner[across]
    ring = [(0, base), (2000, base), (2000, base + 2000), (900, base + 1), (0, base + 2000)]
    return _from(corner, [(y, x) for x, y in ring] if across == 0 else ring)


def is_lossy(cell: Cell) -> bool:
    """True if many numbers of a cell lose a millionth when ``trunc(x * 1e6)`` truncates them. These
    are above powers of two, by less than a twentieth: their spacing grows there, and that of their
    millionfold does not yet."""
    return _is_lossy(cell.longitude) or _is_lossy(cell.latitude)


def _is_lossy(middle: float) -> bool:
    return any(2.0**n < abs(middle) - CELL / 2 < 1.03 * 2.0**n for n in (-1, 1))


BREAKING: Final = (
    touching, touching_corners, overlapping, crossing, collapsing, part_collapsing,
)  # fmt: skip


def _magnitudes(cell: Cell) -> tuple[int, int, int, int]:
    """The corner nearest to 0° 0° of what is drawn in a cell, in millionths of a degree without
    signs, and the signs."""
    signs = (1 if cell.longitude > 0 else -1, 1 if cell.latitude > 0 else -1)
    longitude, latitude = (max(round(abs(x) * _MICRO) - 1000, 0) for x in cell)
    return longitude, latitude, *signs


def _from(corner: tuple[int, int, int, int], offsets: Sequence[Position]) -> dict[str, Any]:
    """A Polygon of positions by millionths of a degree from a corner, away from 0° 0°."""
    longitude, latitude, x_sign, y_sign = corner
    ring = [
        [round(x_sign * (longitude + x) / _MICRO, 9), round(y_sign * (latitude + y) / _MICRO, 9)]
        for x, y in offsets
    ]
    return {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
