"""Geometries as text: WKT, also with PostGIS's SRID, hexadecimal WKB, and GeoJSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import orjson
import shapely

from app.formats.positions import Json, unreadable_geometry
from app.formats.readers.layer_limits import quoted
from app.formats.readers.ordinates import too_many_positions
from app.formats.readers.wkb import DAMAGED, check_wkb, needs_own_reader
from app.formats.readers.wkb_curves import CurvesReader
from app.geometry.problems import GeometryInvalid, Problem
from app.policy.request_limits import GEOMETRY_POSITIONS

_SRID: Final = re.compile(r"\ASRID\s*+=\s*+([0-9]{1,6})\s*+;\s*+", re.IGNORECASE)
# GEOS calls itself for each member of a collection, so it is given none.
_WKT: Final = re.compile(
    r"(MULTI)?(POINT|LINESTRING|POLYGON)\s*+(Z|M|ZM)?\s*+(\(|EMPTY)", re.IGNORECASE
)
_CURVES_WKT: Final = re.compile(
    r"(GEOMETRYCOLLECTION|CIRCULARSTRING|COMPOUNDCURVE|CURVEPOLYGON|MULTICURVE|MULTISURFACE)"
    r"\s*+(Z|M|ZM)?\s*+(\(|EMPTY)",
    re.IGNORECASE,
)
_OTHER_WKT: Final = re.compile(
    r"(POLYHEDRALSURFACE|TIN|TRIANGLE)\s*+(Z|M|ZM)?\s*+(\(|EMPTY)", re.IGNORECASE
)
_DEEPEST: Final = 10  # brackets in one another
_HEX: Final = re.compile(r"(?:\\x)?0[01][0-9a-f]{16,}", re.IGNORECASE)
# The order of bytes and the type, ISO's or PostGIS's: other words have only such letters as well.
_WKB: Final = re.compile(
    r"(?:\\x)?(?:00[02468ace]0000[0-9ab]|01[0-9a-f]{2}0[0-9ab]00[02468ace]0)[0-9a-f]{8}",
    re.IGNORECASE,
)
_TEXTS: Final = (_WKB, _WKT, _CURVES_WKT, _OTHER_WKT)


@dataclass(frozen=True, slots=True)
class ReadGeometry:
    """A geometry from a text. ``geometry`` is None when it is empty. ``srid`` is the number of its
    coordinate reference system if the text has one; for GeoJSON always 4326."""

    geometry: Json | None
    srid: int | None
    positions: int
    is_flat: bool  # otherwise heights or measures were left out
    has_arcs: bool = False  # which were made of straight lines
    letter: str = ""


def is_geometry(text: str) -> bool:
    """True if the beginning of a text looks like a geometry."""
    text = _SRID.sub("", text.strip(), count=1)
    return bool(
        text.startswith("{")
        or any(each.match(text) for each in (_WKB, _WKT, _CURVES_WKT, _OTHER_WKT))
    )


def read_geometry_text(text: str) -> ReadGeometry:
    """Read a geometry from a text that is not blank.

    Raises:
        GeometryInvalid: the text is not a geometry, of another type, or has too many positions.
    """
    text = text.strip()
    if text.startswith("{"):
        return _from_geojson(text)
    if _HEX.fullmatch(text):
        if len(text) % 2:  # spreadsheets cut off cells at 32,767 characters
            raise GeometryInvalid([unreadable_geometry(DAMAGED)])
        return read_wkb(bytes.fromhex(text.removeprefix("\\x")))
    srid = None
    if found := _SRID.match(text):
        text, srid = text[found.end() :], int(found[1]) or None
    _check_wkt(text)
    if _CURVES_WKT.match(text):
        return replace(read_wkb(_wkb_of(text)), srid=srid)
    return _from_shapely(shapely.from_wkt, text, srid)


def read_wkb(data: bytes) -> ReadGeometry:
    """Read a geometry from well-known binary, also PostGIS's.

    Raises:
        GeometryInvalid: as ``read_geometry_text``.
    """
    if needs_own_reader(data):
        return _from_curves(data)
    srid = check_wkb(data)
    return _from_shapely(shapely.from_wkb, data, srid)


def _from_geojson(text: str) -> ReadGeometry:
    arrays = text.count("[") + text.count("{")
    if arrays > 2 * GEOMETRY_POSITIONS or text.count(",") > 4 * GEOMETRY_POSITIONS:
        raise too_many_positions()
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        message = f"The geometry is not JSON: {error.msg} at character {error.pos + 1:,}."
        raise GeometryInvalid([unreadable_geometry(message)]) from None
    if value.get("type") == "Feature" and isinstance(value.get("geometry"), dict | None):
        value = value.get("geometry")
    return ReadGeometry(value, 4326, arrays, is_flat=True)


def _check_wkt(text: str) -> None:
    if text.count(",") >= GEOMETRY_POSITIONS:  # each separates two positions
        raise too_many_positions()
    if found := _OTHER_WKT.match(text):
        message = f"The geometry is a {found[1].upper()}, not made of points, lines or polygons."
        raise GeometryInvalid([unreadable_geometry(message, "wrong_type")])
    if not (_WKT.match(text) or _CURVES_WKT.match(text)):
        message = f"{quoted(text)} is neither WKT, nor WKB in hexadecimal digits, nor GeoJSON."
        raise GeometryInvalid([unreadable_geometry(message)])


def _wkb_of(text: str) -> bytes:
    """The WKB of a text with arcs, or of a collection. GEOS reads them, but Shapely gives them only
    as a part of a collection."""
    depth = deepest = 0
    for bracket in re.findall(r"[()]", text):
        depth += 1 if bracket == "(" else -1
        deepest = max(deepest, depth)
    if deepest > _DEEPEST:
        raise GeometryInvalid([unreadable_geometry("The geometry is nested too deeply.")])
    try:
        with np.errstate(all="ignore"):
            collection = shapely.from_wkt(f"GEOMETRYCOLLECTION ({text})")
    except shapely.errors.ShapelyError as error:
        raise GeometryInvalid([_fault(str(error))]) from None
    return bytes(shapely.to_wkb(collection))


def _from_curves(data: bytes) -> ReadGeometry:
    reader = CurvesReader(data)
    geometry = reader.read_geometry()
    return ReadGeometry(geometry, reader.srid, reader.positions, reader.is_flat, reader.has_arcs)


def _from_shapely(
    parse: Callable[[Any], shapely.Geometry], source: object, srid: int | None
) -> ReadGeometry:
    try:
        with np.errstate(all="ignore"):  # a number that no float holds
            geometry = parse(source)
    except shapely.errors.ShapelyError as error:
        raise GeometryInvalid([_fault(str(error))]) from None
    if shapely.is_empty(geometry):
        return ReadGeometry(None, srid, 0, is_flat=True)
    positions = shapely.get_coordinates(geometry)
    if not np.isfinite(positions).all():
        message = "The geometry has a number that is not finite."
        raise GeometryInvalid([unreadable_geometry(message, "not_a_number")])
    is_flat = not (shapely.has_z(geometry) or shapely.has_m(geometry))
    parsed = orjson.loads(shapely.to_geojson(shapely.force_2d(geometry)))
    return ReadGeometry(parsed, srid, len(positions), is_flat)


def _fault(reason: str) -> Problem:
    """The problem of a text, or of bytes, that GEOS cannot read."""
    if "closed linestring" in reason:
        message = "A ring is not closed. Repeat its first position as the last."
        return unreadable_geometry(message, "not_closed")
    detail = quoted(reason.partition(": ")[2].strip() or reason)
    advice = " Write numbers in WKT with a point." if "encountered ','" in reason else ""
    return unreadable_geometry(f"The geometry cannot be read: {detail}.{advice}")
