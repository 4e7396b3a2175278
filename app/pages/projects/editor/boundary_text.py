"""A boundary as people write or paste it: GeoJSON, also of whole features, or WKT."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final, NamedTuple

from app.formats.positions import unreadable
from app.formats.readers.geometry_text import read_geometry_text
from app.geometry import Boundary, GeometryInvalid
from app.geometry.plain_words import plain_message
from app.projects.boundaries.validation import geometry_report

_WGS84: Final = (None, 4326)


class Checked(NamedTuple):
    """A text: the boundary of a valid one with its warnings, the problems of any other, and the
    GeoJSON geometry that it holds, valid or not."""

    boundary: Boundary | None
    problems: list[dict[str, Any]]
    geometry: Any
    warnings: list[dict[str, Any]]


def check_boundary(text: str) -> Checked:
    """Check a boundary as people write it; a blank text is none, and has no problems.

    Raises:
        ServiceUnavailable: it is expensive to check, and too many others are before this request.
    """
    try:
        value = read_text(text)
    except GeometryInvalid as error:
        return Checked(None, [_for_people(asdict(each)) for each in error.problems], None, [])
    if value is None:
        return Checked(None, [], None, [])
    report, boundary = geometry_report(value)
    problems, warnings = (list(map(_for_people, report[name])) for name in ("problems", "warnings"))
    return Checked(boundary, problems, value, warnings)


def _for_people(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem as somebody who draws sees it."""
    return problem | {"message": plain_message(problem["code"], problem["message"])}


def read_text(text: str) -> Any:
    """The GeoJSON geometry of a text, not validated; None for a blank one.

    The polygons of several features become one MultiPolygon.

    Raises:
        GeometryInvalid: the text is neither GeoJSON nor WKT, or in other coordinates.
    """
    if not text.strip():
        return None
    found = read_geometry_text(text)
    if found.srid not in _WGS84:
        raise _invalid("The coordinates must be longitude and latitude in WGS 84 (EPSG:4326).")
    value: Any = found.geometry
    if not isinstance(value, dict):
        return value
    if value.get("type") == "FeatureCollection":
        return _combined(value.get("features"))
    return value.get("geometry") if value.get("type") == "Feature" else value


def _combined(features: Any) -> Any:
    whole = features if isinstance(features, list) else []
    geometries = [each.get("geometry") for each in whole if isinstance(each, dict)]
    if len(geometries) == 1:
        return geometries[0]
    parts: list[Any] = []
    for geometry in geometries:
        known = geometry if isinstance(geometry, dict) else {}
        kind, coordinates = known.get("type"), known.get("coordinates")
        if kind == "Polygon":
            parts.append(coordinates)
        elif kind == "MultiPolygon" and isinstance(coordinates, list):
            parts += coordinates
        else:
            raise _invalid("All features must be polygons. Take out the points and lines.")
    if not parts:
        raise _invalid("The FeatureCollection has no features.")
    return {"type": "MultiPolygon", "coordinates": parts}


def _invalid(message: str) -> GeometryInvalid:
    return GeometryInvalid([unreadable(message, "wrong_type")])
