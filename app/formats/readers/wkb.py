"""Checking that well-known binary (OGC 06-103r4, ISO 13249-3, and PostGIS's) is safe to parse.

GEOS calls itself for each member of a geometry before it looks at its type. So bytes that claim
often enough to contain each other end the process.
"""

from __future__ import annotations

import struct
from typing import Final

from app.formats.positions import unreadable
from app.formats.readers.ordinates import too_many_positions
from app.geometry.problems import GeometryInvalid
from app.policy.bounds import GEOMETRY_POSITIONS

_POINT, _LINE, _POLYGON = 1, 2, 3
_MEMBERS: Final = {4: _POINT, 5: _LINE, 6: _POLYGON}  # of MultiPoint and so on
_COLLECTION: Final = 7  # of geometries of any type
_CURVES: Final = {
    8: "CircularString", 9: "CompoundCurve", 10: "CurvePolygon", 11: "MultiCurve",
    12: "MultiSurface", 13: "Curve", 14: "Surface",
}  # fmt: skip
_Z, _M, _SRID = 0x80000000, 0x40000000, 0x20000000  # how PostGIS marks a type


def check_wkb(data: bytes) -> int | None:
    """Check that this is a Point, a LineString, a Polygon, or several of one of these.

    Returns:
        The number of its coordinate reference system, if PostGIS has included it.

    Raises:
        GeometryInvalid: it is another type, incomplete, or has too many positions.
    """
    try:
        return _Walk(data).geometry()
    except struct.error:
        raise GeometryInvalid([unreadable("The WKB is incomplete or damaged.")]) from None


class _Walk:
    """Goes through the headers and the counts of a geometry."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset = 0
        self._order = "<"
        self._count = 0  # of positions, rings and members

    def geometry(self, expected: int | None = None) -> int | None:
        self._order = "<" if self._number("B") else ">"
        code = self._number("I")
        srid = self._number("I") if code & _SRID else 0
        kind, dimensions = _kind(code)
        if kind == _COLLECTION or expected not in (None, kind):
            message = (
                "The geometry mixes geometry types, which is not supported. Split the feature."
            )
            raise GeometryInvalid([unreadable(message, "wrong_type")])
        if kind not in (_POINT, _LINE, _POLYGON, *_MEMBERS):
            message = (
                f"The geometry is a {_CURVES[kind]}, with arcs. Make them straight lines: "
                "ogr2ogr -nlt CONVERT_TO_LINEAR lines.gpkg FILE"
                if kind in _CURVES
                else "The geometry is of a type that is not supported."
            )
            raise GeometryInvalid([unreadable(message, "wrong_type")])
        if kind == _POINT:
            self._skip(1, dimensions)
        elif kind == _LINE:
            self._skip(self._number("I"), dimensions)
        else:
            for _ in range(self._number("I")):
                if kind == _POLYGON:
                    self._skip(self._number("I"), dimensions)
                else:
                    self.geometry(_MEMBERS[kind])
        return srid or None

    def _number(self, kind: str) -> int:
        (number,) = struct.unpack_from(f"{self._order}{kind}", self._data, self._offset)
        self._offset += struct.calcsize(kind)
        return int(number)

    def _skip(self, positions: int, dimensions: int) -> None:
        self._offset += 8 * dimensions * positions
        self._count += 1 + positions
        if self._count > 2 * GEOMETRY_POSITIONS:
            raise too_many_positions()


def _kind(code: int) -> tuple[int, int]:
    """The type without the flags of heights and measures, and the numbers in a position."""
    marks, kind = divmod(code & ~(_Z | _M | _SRID), 1000)
    has_z = bool(code & _Z) or marks in (1, 3)
    has_m = bool(code & _M) or marks in (2, 3)
    return (kind, 2 + has_z + has_m) if marks < 4 else (0, 2)
