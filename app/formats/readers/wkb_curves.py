"""Reading well-known binary that GEOS does not: geometries with arcs, and collections."""

from __future__ import annotations

import struct
from typing import Final

import numpy as np

from app.formats.positions import Json, Points, unreadable_geometry
from app.formats.readers.arcs import straighten_arcs
from app.formats.readers.ordinates import too_many_positions
from app.formats.readers.wkb import (
    CIRCULAR_STRING,
    COLLECTION,
    COMPOUND_CURVE,
    CURVE_POLYGON,
    DAMAGED,
    LINE,
    MULTI_CURVE,
    MULTI_LINE,
    MULTI_POINT,
    MULTI_POLYGON,
    MULTI_SURFACE,
    POINT,
    POLYGON,
    SRID,
    Numbers,
    kind_and_dimensions,
    mixed_parts_error,
    unsupported_type_error,
)
from app.geometry.problems import GeometryInvalid
from app.policy.request_limits import GEOMETRY_POSITIONS

_DEEPEST: Final = 8  # levels of nested geometries
_LINES: Final = (LINE, CIRCULAR_STRING, COMPOUND_CURVE)
_MEMBERS: Final = {
    MULTI_POINT: ("MultiPoint", (POINT,)),
    MULTI_LINE: ("MultiLineString", (LINE,)),
    MULTI_POLYGON: ("MultiPolygon", (POLYGON,)),
    MULTI_CURVE: ("MultiLineString", _LINES),
    MULTI_SURFACE: ("MultiPolygon", (POLYGON, CURVE_POLYGON)),
}


class CurvesReader(Numbers):
    """Reads one geometry. The attributes then describe it: ``positions`` counts also those that
    arcs became; ``is_flat``: it has no heights or measures; ``srid`` is the number of its
    coordinate reference system, if PostGIS has included it."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._geometries = 0
        self.positions = 0
        self.is_flat = True
        self.has_arcs = False
        self.srid: int | None = None

    def read_geometry(self) -> Json | None:
        """The geometry as GeoJSON, with straight lines instead of arcs; None if it is empty.

        Raises:
            GeometryInvalid: it is damaged, of another type, or has too many positions.
        """
        try:
            _, geometry = self._geometry(0)
        except struct.error:
            raise GeometryInvalid([unreadable_geometry(DAMAGED)]) from None
        while len(members := geometry.get("geometries", ())) == 1:
            (geometry,) = members
        return geometry if _is_filled(geometry) else None

    def _geometry(self, depth: int, expected: tuple[int, ...] = ()) -> tuple[int, Json]:
        """The type of the next geometry, and the geometry."""
        if depth > _DEEPEST:
            raise GeometryInvalid([unreadable_geometry("The geometry is nested too deeply.")])
        self._geometries += 1
        if self._geometries > GEOMETRY_POSITIONS:
            raise too_many_positions()
        self._order = "<" if self._number("B") else ">"
        code = self._number("I")
        if code & SRID:
            self.srid = self._number("I") or None
        kind, dimensions = kind_and_dimensions(code)
        if expected and kind not in expected:
            raise mixed_parts_error()
        self.is_flat = self.is_flat and dimensions == 2
        if kind == COLLECTION:
            members = [self._geometry(depth + 1)[1] for _ in range(self._number("I"))]
            members = [member for member in members if _is_filled(member)]
            return kind, {"type": "GeometryCollection", "geometries": members}
        if kind in _MEMBERS:
            name, kinds = _MEMBERS[kind]
            members = [self._geometry(depth + 1, kinds)[1] for _ in range(self._number("I"))]
            coordinates = [member["coordinates"] for member in members if member["coordinates"]]
            return kind, {"type": name, "coordinates": coordinates}
        return kind, self._simple(kind, dimensions, depth)

    def _simple(self, kind: int, dimensions: int, depth: int) -> Json:
        if kind == POINT:
            points = self._points(1, dimensions)
            is_empty = bool(np.isnan(points).all())
            position = [] if is_empty else _checked_points(points)[0].tolist()
            return {"type": "Point", "coordinates": position}
        if kind in _LINES:
            line = self._line(kind, dimensions, depth)
            return {"type": "LineString", "coordinates": line.tolist()}
        if kind == POLYGON:
            rings = [
                _checked_points(self._points(self._number("I"), dimensions))
                for _ in range(self._number("I"))
            ]
        elif kind == CURVE_POLYGON:
            rings = [self._member_line(depth) for _ in range(self._number("I"))]
        else:
            raise unsupported_type_error(kind)
        return {"type": "Polygon", "coordinates": [ring.tolist() for ring in rings if len(ring)]}

    def _line(self, kind: int, dimensions: int, depth: int) -> Points:
        if kind == COMPOUND_CURVE:
            parts = [self._member_line(depth) for _ in range(self._number("I"))]
            parts = [part for part in parts if len(part)]
            # Each begins where the one before it ends.
            joined = [*parts[:1], *(part[1:] for part in parts[1:])]
            return np.concatenate(joined) if joined else np.empty((0, 2))
        line = _checked_points(self._points(self._number("I"), dimensions))
        if kind == CIRCULAR_STRING and len(line):
            self.has_arcs = True
            line = straighten_arcs(line)
            self._count(len(line))
        return line

    def _member_line(self, depth: int) -> Points:
        """A line, an arc or both, that is part of another geometry."""
        _, geometry = self._geometry(depth + 1, _LINES)
        return np.array(geometry["coordinates"], dtype=float).reshape(-1, 2)

    def _points(self, number: int, dimensions: int) -> Points:
        """The next positions, without heights and measures."""
        self._count(number)
        if 8 * number * dimensions > len(self._data) - self._offset:
            raise GeometryInvalid([unreadable_geometry(DAMAGED)])
        ordinates = np.frombuffer(self._data, f"{self._order}f8", number * dimensions, self._offset)
        self._offset += 8 * number * dimensions
        return ordinates.reshape(-1, dimensions)[:, :2].astype(float)

    def _count(self, positions: int) -> None:
        self.positions += positions
        if self.positions > GEOMETRY_POSITIONS:
            raise too_many_positions()


def _is_filled(geometry: Json) -> bool:
    return bool(geometry.get("coordinates") or geometry.get("geometries"))


def _checked_points(points: Points) -> Points:
    if not np.isfinite(points).all():
        message = "The geometry has a number that is not finite."
        raise GeometryInvalid([unreadable_geometry(message, "not_a_number")])
    return points
