"""The shapes that queries compare boundaries and locations with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import shapely
from shapely.errors import GEOSException

from app.geometry import timed
from app.geometry.bounding_boxes import Bounds
from app.geometry.shapes.crs import Crs
from app.policy.ogc import SHAPE_SECONDS

_TURN: Final = 360.0  # degrees
_COMPARED: Final = 2_000_000  # pairs of positions, which take 0.1 s however they lie
_KINDS: Final = re.compile(
    r"(?:(?:MULTI)?(?:POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)\b", re.IGNORECASE
)


class ShapeInvalid(ValueError):
    """The value is not a shape that boundaries can be compared with. The message says why."""


@dataclass(frozen=True, eq=False)
class QueryShape:
    """A geometry of a query, in degrees.

    ``bounds`` is the unwrapped box around it; ``is_box`` is True if it is just this box. ``copies``
    are shapely's geometries of it: its parts, and those a turn to the west or to the east that
    reach between -180 and 180 degrees, too. Each is prepared for many comparisons, as a collection
    of them could not be. A union would have another edge wherever two cross: 400,000 of 8 KB.
    """

    bounds: Bounds
    is_box: bool
    copies: tuple[Any, ...]

    def intersects(self, texts: Sequence[str]) -> list[bool] | None:
        """True for each boundary that has a point in common with it, if only on the edge. None if
        that takes longer than SHAPE_SECONDS of processor time.

        Args:
            texts: GeoJSON of valid boundaries.
        """
        return self._test(shapely.from_geojson(list(texts)))

    def intersects_points(
        self, longitudes: Sequence[float], latitudes: Sequence[float]
    ) -> list[bool] | None:
        """The same for points."""
        return self._test(shapely.points(np.array(longitudes), np.array(latitudes)))

    def _test(self, geometries: Any) -> list[bool] | None:
        pairs = shapely.count_coordinates(self.copies) * shapely.count_coordinates(geometries)
        if pairs > _COMPARED:
            return timed.meet_any(self.copies, geometries, SHAPE_SECONDS)
        tests = [shapely.intersects(copy, geometries) for copy in self.copies]
        is_intersecting: list[bool] = np.any(tests, axis=0).tolist()
        return is_intersecting


def read_box(numbers: Sequence[float], crs: Crs) -> QueryShape:
    """The shape of a box of four numbers, the lower ones first, or six with heights, which are
    ignored.

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
    return QueryShape(bounds, True, _shifted_copies(shapely.box(*bounds)))


def read_shape(text: str, crs: Crs) -> QueryShape:
    """The shape of a geometry in WKT or GeoJSON; of a collection, all its parts.

    Raises:
        ShapeInvalid: it cannot be read, is not valid, or is beyond ±180 or ±90 degrees.
    """
    geometry = shapely.transform(_parse_shape(text), crs.to_degrees)
    if not shapely.is_valid(geometry):
        reason = str(shapely.is_valid_reason(geometry))
        raise ShapeInvalid(f"The geometry is not valid: {reason[:100]}.")
    west, south, east, north = shapely.bounds(geometry).tolist()
    if not (west >= -180 and east <= 180 and south >= -90 and north <= 90):
        raise ShapeInvalid("Longitudes must be within ±180 and latitudes within ±90.")
    return QueryShape(Bounds(west, south, east, north), False, _shifted_copies(geometry))


def _parse_shape(text: str) -> Any:
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


def _shifted_copies(geometry: Any) -> tuple[Any, ...]:
    copies = [
        shapely.transform(part, partial(np.add, np.array([turn, 0.0]))) if turn else part
        for part in _parts(geometry)
        for west, _, east, _ in [shapely.bounds(part).tolist()]
        for turn in (0.0, -_TURN, _TURN)
        if west + turn <= 180 and east + turn >= -180
    ]
    shapely.prepare(copies)
    return tuple(copies)


def _parts(geometry: Any) -> Iterator[Any]:
    """The geometry, or those of a collection, which can be nested."""
    if shapely.get_type_id(geometry) != shapely.GeometryType.GEOMETRYCOLLECTION:
        yield geometry
        return
    for part in shapely.get_parts(geometry):
        if not shapely.is_empty(part):
            yield from _parts(part)
