"""Geometries in well-known binary (OGC 06-103r4, ISO 13249-3, and PostGIS's), also with arcs."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np

from app.formats.positions import Json, Points, unreadable_geometry
from app.formats.readers.arcs import straighten_arcs
from app.formats.readers.ordinates import too_many_positions
from app.geometry.problems import GeometryInvalid
from app.policy.request_limits import GEOMETRY_POSITIONS

_POINT, _LINE, _POLYGON, _MULTI_POINT, _MULTI_LINE, _MULTI_POLYGON, _COLLECTION = range(1, 8)
_CIRCULAR_STRING, _COMPOUND_CURVE, _CURVE_POLYGON, _MULTI_CURVE, _MULTI_SURFACE = range(8, 13)
_LINES: Final = (_LINE, _CIRCULAR_STRING, _COMPOUND_CURVE)
_MEMBERS: Final[dict[int, tuple[str, tuple[int, ...]]]] = {
    _MULTI_POINT: ("MultiPoint", (_POINT,)),
    _MULTI_LINE: ("MultiLineString", (_LINE,)),
    _MULTI_POLYGON: ("MultiPolygon", (_POLYGON,)),
    _COLLECTION: ("GeometryCollection", ()),  # of anything
    _MULTI_CURVE: ("MultiLineString", _LINES),
    _MULTI_SURFACE: ("MultiPolygon", (_POLYGON, _CURVE_POLYGON)),
}
_SURFACES: Final = {15: "a PolyhedralSurface", 16: "a TIN", 17: "a Triangle"}
_Z, _M, _SRID = 0x80000000, 0x40000000, 0x20000000  # PostGIS's flags of a type
_DEEPEST: Final = 8  # levels of nested geometries
_DAMAGED: Final = "The WKB is incomplete or damaged."


@dataclass(frozen=True, slots=True)
class ReadGeometry:
    """A geometry from a text or from bytes. ``geometry`` is None when it is empty. ``srid`` is the
    number of its coordinate reference system if it has one; for GeoJSON always 4326. ``positions``
    counts also those that arcs became."""

    geometry: Json | None
    srid: int | None
    positions: int
    is_flat: bool  # otherwise heights or measures were left out
    has_arcs: bool = False  # which were made of straight lines
    letter: str = ""


def read_wkb(data: bytes, srid: int | None = None) -> ReadGeometry:
    """Read a geometry, with straight lines instead of arcs.

    Args:
        srid: of a geometry that does not name its own.

    Raises:
        GeometryInvalid: it is damaged, of another type, or has too many positions.
    """
    reader = _Reader(data, srid)
    try:
        geometry = reader.geometry(0)
    except struct.error:
        raise _invalid(_DAMAGED) from None
    while len(members := geometry.get("geometries", ())) == 1:
        (geometry,) = members
    filled = geometry if _is_filled(geometry) else None
    return ReadGeometry(filled, reader.srid, reader.positions, reader.is_flat, reader.has_arcs)


class _Reader:
    """Reads one geometry. The attributes then describe it, as those of ``ReadGeometry``."""

    def __init__(self, data: bytes, srid: int | None) -> None:
        self._data = data
        self._offset = 0
        self._order = "<"
        self._counts = 0
        self.positions = 0
        self.is_flat = True
        self.has_arcs = False
        self.srid = srid

    def geometry(self, depth: int, expected: tuple[int, ...] = ()) -> Json:
        """The next geometry as GeoJSON, of which the parts that are empty are left out."""
        if depth > _DEEPEST:
            raise _invalid("The geometry is nested too deeply.")
        self._order = "<" if self._number("B") else ">"
        code = self._number("I")
        if code & _SRID:
            self.srid = self._number("I") or None
        kind, dimensions = _kind_and_dimensions(code)
        if expected and kind not in expected:
            raise _invalid("The geometry mixes geometry types. Split the feature.", "wrong_type")
        self.is_flat = self.is_flat and dimensions == 2
        if kind not in _MEMBERS:
            return self._simple(kind, dimensions, depth)
        name, kinds = _MEMBERS[kind]
        members = [self.geometry(depth + 1, kinds) for _ in range(self._count())]
        members = [*filter(_is_filled, members)]
        if kind == _COLLECTION:
            return {"type": name, "geometries": members}
        return {"type": name, "coordinates": [member["coordinates"] for member in members]}

    def _simple(self, kind: int, dimensions: int, depth: int) -> Json:
        if kind == _POINT:
            points = self._points(1, dimensions)
            is_empty = bool(np.isnan(points).all())
            position = [] if is_empty else _checked_points(points)[0].tolist()
            return {"type": "Point", "coordinates": position}
        if kind in _LINES:
            line = self._line(kind, dimensions, depth)
            return {"type": "LineString", "coordinates": line.tolist()}
        if kind == _POLYGON:
            rings = [self._line(_LINE, dimensions, depth) for _ in range(self._count())]
        elif kind == _CURVE_POLYGON:
            rings = [self._member_line(depth) for _ in range(self._count())]
        else:
            raise unsupported_type(_SURFACES.get(kind, "of another type"))
        return {"type": "Polygon", "coordinates": [ring.tolist() for ring in rings if len(ring)]}

    def _line(self, kind: int, dimensions: int, depth: int) -> Points:
        if kind == _COMPOUND_CURVE:
            parts = [self._member_line(depth) for _ in range(self._count())]
            parts = [part for part in parts if len(part)]
            # Each begins where the one before it ends.
            joined = [*parts[:1], *(part[1:] for part in parts[1:])]
            return np.concatenate(joined) if joined else np.empty((0, 2))
        line = _checked_points(self._points(self._count(), dimensions))
        if kind == _CIRCULAR_STRING and len(line):
            self.has_arcs = True
            line = straighten_arcs(line)
            self._add_positions(len(line))
        return line

    def _member_line(self, depth: int) -> Points:
        """A line, an arc or both, that is part of another geometry."""
        geometry = self.geometry(depth + 1, _LINES)
        return np.array(geometry["coordinates"], dtype=float).reshape(-1, 2)

    def _points(self, number: int, dimensions: int) -> Points:
        """The next positions, without heights and measures."""
        self._add_positions(number)
        if 8 * number * dimensions > len(self._data) - self._offset:
            raise _invalid(_DAMAGED)
        ordinates = np.frombuffer(self._data, f"{self._order}f8", number * dimensions, self._offset)
        self._offset += 8 * number * dimensions
        return ordinates.reshape(-1, dimensions)[:, :2].astype(float)

    def _add_positions(self, number: int) -> None:
        self.positions += number
        if self.positions > GEOMETRY_POSITIONS:
            raise too_many_positions()

    def _count(self) -> int:
        """The number of members, rings or positions that follow. There are no more such numbers
        than a geometry may have positions."""
        self._counts += 1
        if self._counts > GEOMETRY_POSITIONS:
            raise too_many_positions()
        return self._number("I")

    def _number(self, kind: str) -> int:
        (number,) = struct.unpack_from(f"{self._order}{kind}", self._data, self._offset)
        self._offset += struct.calcsize(kind)
        return int(number)


def _kind_and_dimensions(code: int) -> tuple[int, int]:
    """The type without the flags of heights and measures, and the numbers in a position."""
    marks, kind = divmod(code & ~(_Z | _M | _SRID), 1000)
    has_z = bool(code & _Z) or marks in (1, 3)
    has_m = bool(code & _M) or marks in (2, 3)
    return (kind, 2 + has_z + has_m) if marks < 4 else (0, 2)


def unsupported_type(kind: str) -> GeometryInvalid:
    """The error for a geometry of a kind, such as "a TIN", that is not read."""
    message = (
        f"The geometry is {kind}. Make it of points, lines or polygons: in QGIS with Export, Save "
        "Features As, where you choose the geometry type."
    )
    return _invalid(message, "wrong_type")


def _is_filled(geometry: Json) -> bool:
    return bool(geometry.get("coordinates") or geometry.get("geometries"))


def _checked_points(points: Points) -> Points:
    if not np.isfinite(points).all():
        raise _invalid("The geometry has a number that is not finite.", "not_a_number")
    return points


def _invalid(message: str, code: str = "unreadable") -> GeometryInvalid:
    return GeometryInvalid([unreadable_geometry(message, code)])
