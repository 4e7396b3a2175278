"""Boundaries as text: WKT, or GeoJSON, also of whole features."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final, NamedTuple

from app.formats.positions import unreadable_geometry
from app.formats.readers.geometry_text import read_geometry_text
from app.geometry import Boundary, GeometryInvalid
from app.geometry.plain_words import plain_message
from app.projects.boundaries.validation import geometry_report
from app.values.strict_json import is_within_levels

_WGS84: Final = (None, 4326)
_LEVELS: Final = 5  # of objects and arrays in a MultiPolygon


class CheckedBoundary(NamedTuple):
    """A checked text: the boundary, None if there are problems, and the GeoJSON geometry, which may
    be invalid; None if it is nested deeper than any geometry, which may be too deep to write."""

    boundary: Boundary | None
    problems: list[dict[str, Any]]
    geometry: Any
    warnings: list[dict[str, Any]]


def check_boundary(text: str) -> CheckedBoundary:
    """Check a boundary in a text. A blank text has no boundary and no problems.

    Raises:
        ServiceUnavailable: too many other boundaries are being checked.
    """
    try:
        geometry = read_boundary_text(text)
    except GeometryInvalid as error:
        problems = [_for_people(asdict(problem)) for problem in error.problems]
        return CheckedBoundary(None, problems, None, [])
    if geometry is None:
        return CheckedBoundary(None, [], None, [])
    report, boundary = geometry_report(geometry)
    problems, warnings = (list(map(_for_people, report[name])) for name in ("problems", "warnings"))
    if boundary is None and not is_within_levels(geometry, _LEVELS):
        geometry = None
    return CheckedBoundary(boundary, problems, geometry, warnings)


def _for_people(problem: dict[str, Any]) -> dict[str, Any]:
    """Return a problem with a message in plain words."""
    return problem | {"message": plain_message(problem["code"], problem["message"])}


def read_boundary_text(text: str) -> Any:
    """Read the GeoJSON geometry of a text without validating it; None for a blank text.

    The polygons of several features become one MultiPolygon.

    Raises:
        GeometryInvalid: the text is neither GeoJSON nor WKT, or in other coordinates.
    """
    if not text.strip():
        return None
    written = read_geometry_text(text)
    if written.srid not in _WGS84:
        raise _invalid_geometry(
            "The coordinates must be longitude and latitude in WGS 84 (EPSG:4326)."
        )
    value: Any = written.geometry
    if not isinstance(value, dict):
        return value
    if value.get("type") == "FeatureCollection":
        return _combine_features(value.get("features"))
    return value.get("geometry") if value.get("type") == "Feature" else value


def _combine_features(features: Any) -> Any:
    listed = features if isinstance(features, list) else []
    geometries = [feature.get("geometry") for feature in listed if isinstance(feature, dict)]
    if len(geometries) == 1:
        return geometries[0]
    parts: list[Any] = []
    for geometry in geometries:
        members = geometry if isinstance(geometry, dict) else {}
        kind, coordinates = members.get("type"), members.get("coordinates")
        if kind == "Polygon":
            parts.append(coordinates)
        elif kind == "MultiPolygon" and isinstance(coordinates, list):
            parts += coordinates
        else:
            raise _invalid_geometry("All features must be polygons. Take out the points and lines.")
    if not parts:
        raise _invalid_geometry("The FeatureCollection has no features.")
    return {"type": "MultiPolygon", "coordinates": parts}


def _invalid_geometry(message: str) -> GeometryInvalid:
    return GeometryInvalid([unreadable_geometry(message, "wrong_type")])
