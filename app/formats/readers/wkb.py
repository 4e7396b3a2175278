"""Checking that well-known binary (OGC 06-103r4, ISO 13249-3, and PostGIS's) is safe to parse.

GEOS recurses into each member of a geometry before it checks its type. So bytes that claim to be
nested deeply enough end the process.
"""

from __future__ import annotations

import struct
from typing import Final

from app.formats.positions import unreadable_geometry
from app.formats.readers.ordinates import too_many_positions
from app.geometry.problems import GeometryInvalid
from app.policy.request_limits import GEOMETRY_POSITIONS

POINT, LINE, POLYGON, MULTI_POINT, MULTI_LINE, MULTI_POLYGON, COLLECTION = range(1, 8)
CIRCULAR_STRING, COMPOUND_CURVE, CURVE_POLYGON, MULTI_CURVE, MULTI_SURFACE = range(8, 13)
_MEMBERS: Final = {MULTI_POINT: POINT, MULTI_LINE: LINE, MULTI_POLYGON: POLYGON}
_SURFACES: Final = {15: "PolyhedralSurface", 16: "TIN", 17: "Triangle"}
_Z, _M, SRID = 0x80000000, 0x40000000, 0x20000000  # PostGIS's flags of a type
DAMAGED: Final = "The WKB is incomplete or damaged."


def needs_own_reader(data: bytes) -> bool:
    """True for a collection, and for a geometry that can have arcs, which GEOS does not read."""
    (code,) = struct.unpack_from("<I" if data[:1] == b"\1" else ">I", data.ljust(5, b"\0"), 1)
    return COLLECTION <= kind_and_dimensions(code)[0] <= MULTI_SURFACE


def check_wkb(data: bytes) -> int | None:
    """Check that this is a Point, a LineString, a Polygon, or several of one of these.

    Returns:
        The number of its coordinate reference system, if PostGIS has included it.

    Raises:
        GeometryInvalid: it is another type, incomplete, or has too many positions.
    """
    try:
        return _Walk(data).check_geometry()
    except struct.error:
        raise GeometryInvalid([unreadable_geometry(DAMAGED)]) from None


class Numbers:
    """The numbers of a geometry, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset = 0
        self._order = "<"

    def _number(self, kind: str) -> int:
        (number,) = struct.unpack_from(f"{self._order}{kind}", self._data, self._offset)
        self._offset += struct.calcsize(kind)
        return int(number)


class _Walk(Numbers):
    """Goes through the headers and the counts of a geometry."""

    _count = 0  # positions, rings and members

    def check_geometry(self, expected: int | None = None) -> int | None:
        self._order = "<" if self._number("B") else ">"
        code = self._number("I")
        srid = self._number("I") if code & SRID else 0
        kind, dimensions = kind_and_dimensions(code)
        if expected not in (None, kind):
            raise mixed_parts_error()
        if kind not in (POINT, LINE, POLYGON, *_MEMBERS):
            raise unsupported_type_error(kind)
        if kind == POINT:
            self._skip(1, dimensions)
        elif kind == LINE:
            self._skip(self._number("I"), dimensions)
        else:
            for _ in range(self._number("I")):
                if kind == POLYGON:
                    self._skip(self._number("I"), dimensions)
                else:
                    self.check_geometry(_MEMBERS[kind])
        return srid or None

    def _skip(self, positions: int, dimensions: int) -> None:
        self._offset += 8 * dimensions * positions
        self._count += 1 + positions
        if self._count > 2 * GEOMETRY_POSITIONS:
            raise too_many_positions()


def kind_and_dimensions(code: int) -> tuple[int, int]:
    """The type without the flags of heights and measures, and the numbers in a position."""
    marks, kind = divmod(code & ~(_Z | _M | SRID), 1000)
    has_z = bool(code & _Z) or marks in (1, 3)
    has_m = bool(code & _M) or marks in (2, 3)
    return (kind, 2 + has_z + has_m) if marks < 4 else (0, 2)


def mixed_parts_error() -> GeometryInvalid:
    """The error for a geometry with a part of a wrong type."""
    message = "The geometry mixes geometry types, which is not supported. Split the feature."
    return GeometryInvalid([unreadable_geometry(message, "wrong_type")])


def unsupported_type_error(kind: int) -> GeometryInvalid:
    """The error for a geometry of a type that is not read."""
    message = "The geometry is of a type that is not supported."
    if kind in _SURFACES:
        message = (
            f"The geometry is a {_SURFACES[kind]}, a surface in space. Make it an area: in QGIS "
            "with Export, Save Features As, and the geometry type Polygon."
        )
    return GeometryInvalid([unreadable_geometry(message, "wrong_type")])
