"""The shapes of queries, which boundaries and locations may intersect."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import shapely
from shapely.errors import GEOSException

from app.geometry.bounding_boxes import Bounds
from app.geometry.shapes.crs import Crs

_TURN: Final = 360.0  # the same place has longitudes a turn apart
_KINDS: Final = re.compile(
    r"(?:(?:MULTI)?(?:POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)\b", re.IGNORECASE
)


class ShapeInvalid(ValueError):
    """The value is not a shape that boundaries can be compared with. The message says why."""


@dataclass(frozen=True, eq=False)
class QueryShape:
    """A geometry of a query, in degrees.

    ``bounds`` is the unwrapped box around it; ``is_box`` says that it is nothing but this box.
    ``copies`` are shapely's geometries of it: itself, and a turn to the west or to the east where
    that reaches between -180 and 180 degrees, too. Each is prepared for being compared with many;
    a collection of them would not be.
    """

    bounds: Bounds
    is_box: bool
    copies: tuple[Any, ...]

    def intersects(self, texts: Sequence[str]) -> list[bool]:
        """For each boundary, True if it has a point in common with this; one on the edge is enough.

        Args:
            texts: GeoJSON of valid boundaries.
        """
        return self._test(shapely.from_geojson(list(texts)))

    def intersects_points(
        self, longitudes: Sequence[float], latitudes: Sequence[float]
    ) -> list[bool]:
        """For each point, True if it is in this or on its edge."""
        return self._test(shapely.points(np.array(longitudes), np.array(latitudes)))

    def _test(self, geometries: Any) -> list[bool]:
        tests = [shapely.intersects(copy, geometries) for copy in self.copies]
        found: list[bool] = np.any(tests, axis=0).tolist()
        return found


def read_box(numbers: Sequence[float], crs: Crs) -> QueryShape:
    """The shape of a box of four numbers, the lower ones first; of six, heights are ignored.

    Longitudes beyond ±180 are wrapped. A western longitude past the eastern one means a box that
    crosses the antimeridian.

    Raises:
        ShapeInvalid: the numbers are not a box.
    """
    if len(numbers) not in (4, 6):
        raise ShapeInvalid("A box has four numbers, or six with heights.")
    if not np.isfinite(numbers).all():
        raise ShapeInvalid("The numbers of a box must be finite.")
    half = len(numbers) // 2
    corners = np.array([numbers[:2], numbers[half : half + 2]], dtype=float)
    (west, south), (east, north) = crs.to_degrees(corners).tolist()
    if south > north:
        raise ShapeInvalid("The southern edge of a box must be south of its northern one.")
    if west > east:
        east += _TURN
    if west > east:
        raise ShapeInvalid("The western edge of a box must be west of its eastern one.")
    if east - west >= _TURN:
        west, east = -180.0, 180.0
    elif not -180 <= west <= 180:
        turned = (west + 180) % _TURN - 180
        west, east = turned, turned + east - west
    bounds = Bounds(west, max(south, -90.0), east, min(north, 90.0))
    return QueryShape(bounds, True, _copies(shapely.box(*bounds)))


def read_shape(text: str, crs: Crs) -> QueryShape:
    """The shape of a geometry in WKT or GeoJSON; of a collection, the union of its parts.

    Raises:
        ShapeInvalid: it cannot be read, is not valid, or is beyond ±180 or ±90 degrees.
    """
    geometry = _read(text)
    geometry = shapely.transform(geometry, crs.to_degrees)
    if not shapely.is_valid(geometry):
        reason = str(shapely.is_valid_reason(geometry))
        raise ShapeInvalid(f"The geometry is not valid: {reason[:100]}.")
    if shapely.get_type_id(geometry) == shapely.GeometryType.GEOMETRYCOLLECTION:
        geometry = shapely.unary_union(geometry)
    west, south, east, north = shapely.bounds(geometry).tolist()
    if not (west >= -180 and east <= 180 and south >= -90 and north <= 90):
        raise ShapeInvalid("Longitudes must be within ±180 and latitudes within ±90.")
    return QueryShape(Bounds(west, south, east, north), False, _copies(geometry))


def _read(text: str) -> Any:
    is_json = text.lstrip().startswith("{")
    try:
        if not is_json and not _KINDS.match(text.lstrip()):
            raise ShapeInvalid("This is no geometry in WKT or GeoJSON.")
        geometry = shapely.from_geojson(text) if is_json else shapely.from_wkt(text)
    except GEOSException:
        raise ShapeInvalid("This is no geometry in WKT or GeoJSON.") from None
    if geometry is None or shapely.is_empty(geometry):
        raise ShapeInvalid("The geometry is empty.")
    return shapely.force_2d(geometry)


def _copies(geometry: Any) -> tuple[Any, ...]:
    west, _, east, _ = shapely.bounds(geometry).tolist()
    copies = [
        shapely.transform(geometry, partial(np.add, np.array([turn, 0.0]))) if turn else geometry
        for turn in (0.0, -_TURN, _TURN)
        if west + turn <= 180 and east + turn >= -180
    ]
    shapely.prepare(copies)
    return tuple(copies)
