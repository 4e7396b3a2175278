"""Geometries as text: WKT, also with PostGIS's SRID, hexadecimal WKB, and GeoJSON."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

import numpy as np
import orjson
import shapely

from app.formats.positions import unreadable_geometry
from app.formats.readers.layer_limits import quoted
from app.formats.readers.ordinates import too_many_positions
from app.formats.readers.wkb import ReadGeometry, read_wkb, unsupported_type
from app.geometry.problems import GeometryInvalid, Problem
from app.policy.request_limits import GEOMETRY_POSITIONS

_SRID: Final = re.compile(r"\ASRID\s*+=\s*+([0-9]{1,6})\s*+;\s*+", re.IGNORECASE)
_WKT: Final = re.compile(
    r"((MULTI)?(POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION"
    r"|(?P<curve>CIRCULARSTRING|COMPOUNDCURVE|CURVEPOLYGON|MULTICURVE|MULTISURFACE)"
    r"|(?P<surface>POLYHEDRALSURFACE|TIN|TRIANGLE))\s*+(Z|M|ZM)?\s*+(\(|EMPTY)",
    re.IGNORECASE,
)
_DEEPEST: Final = 10  # brackets in one another: GEOS calls itself for each
# The order of bytes and the type, ISO's or PostGIS's: other words have only such letters as well.
_WKB: Final = re.compile(
    r"(?:\\x)?(?:00[02468ace]0000[0-9ab]|01[0-9a-f]{2}0[0-9ab]00[02468ace]0)[0-9a-f]{8}",
    re.IGNORECASE,
)


def is_geometry(text: str) -> bool:
    """True if the beginning of a text looks like a geometry."""
    text = _SRID.sub("", text.strip(), count=1)
    return bool(text.startswith("{") or _WKB.match(text) or _WKT.match(text))


def read_geometry_text(text: str) -> ReadGeometry:
    """Read a geometry from a text that is not blank.

    Raises:
        GeometryInvalid: the text is not a geometry, of another type, or has too many positions.
    """
    text = text.strip()
    if text.startswith("{"):
        return _from_geojson(text)
    if _WKB.match(text):
        try:
            data = bytes.fromhex(text.removeprefix("\\x"))
        except ValueError:  # spreadsheets cut off cells at 32,767 characters
            data = b""
        return read_wkb(data)
    srid = None
    if found := _SRID.match(text):
        text, srid = text[found.end() :], int(found[1]) or None
    return read_wkb(_wkb_of(text), srid)


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


def _wkb_of(text: str) -> bytes:
    """The WKB of WKT. Raises GeometryInvalid."""
    if text.count(",") >= GEOMETRY_POSITIONS:  # each separates two positions
        raise too_many_positions()
    found = _WKT.match(text)
    if found is None:
        message = f"{quoted(text)} is neither WKT, nor WKB in hexadecimal digits, nor GeoJSON."
        raise GeometryInvalid([unreadable_geometry(message)])
    if found["surface"]:
        raise unsupported_type(f"a {found[1].upper()}")
    steps = (1 if bracket == "(" else -1 for bracket in re.findall(r"[()]", text))
    if text.count("(") > _DEEPEST and max(accumulate(steps)) > _DEEPEST:
        raise GeometryInvalid([unreadable_geometry("The geometry is nested too deeply.")])
    if found["curve"]:  # which Shapely only gives as a part of a collection
        text = f"GEOMETRYCOLLECTION ({text})"
    try:
        with np.errstate(all="ignore"):  # a number that no float holds
            return bytes(shapely.to_wkb(shapely.from_wkt(text)))
    except shapely.errors.ShapelyError as error:
        raise GeometryInvalid([_fault(str(error))]) from None


def _fault(reason: str) -> Problem:
    """The problem of a text that GEOS cannot read."""
    if "closed linestring" in reason:
        message = "A ring is not closed. Repeat its first position as the last."
        return unreadable_geometry(message, "not_closed")
    detail = quoted(reason.partition(": ")[2].strip() or reason)
    advice = " Write numbers in WKT with a point." if "encountered ','" in reason else ""
    return unreadable_geometry(f"The geometry cannot be read: {detail}.{advice}")
