"""GeoJSON (RFC 7946) as the OpenAPI description names it: components that the fields refer to.

A schema cannot require that a ring is closed or does not cross itself:
``POST /v1/geometry/validate`` checks that.
"""

from __future__ import annotations

from typing import Any, Final

from app.policy.request_limits import GEOMETRY_POSITIONS

GEOJSON: Final = "application/geo+json"
FORMATS: Final = ("json", "geojson")
FORMAT_DESCRIPTION: Final = (
    "`geojson` for features (RFC 7946), by default `json`. The header "
    "`Accept: application/geo+json` does the same."
)
# For operations without other parameters.
FORMAT: Final[dict[str, Any]] = {
    "in": "query",
    "name": "format",
    "required": False,
    "description": FORMAT_DESCRIPTION,
    "schema": {"type": "string", "enum": list(FORMATS)},
}

_POSITION: Final = {"$ref": "#/components/schemas/Position"}
_RING: Final = {
    "type": "array",
    "minItems": 4,
    "maxItems": GEOMETRY_POSITIONS,
    "items": _POSITION,
}
_RINGS: Final = {"type": "array", "minItems": 1, "items": _RING}


def _geometry_schema(kind: str, description: str, coordinates: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": {"type": {"type": "string", "const": kind}, "coordinates": coordinates},
        "required": ["type", "coordinates"],
    }


COMPONENTS: Final[dict[str, dict[str, Any]]] = {
    "Position": {
        "type": "array",
        "description": "Longitude (-180 to 180) and latitude (-90 to 90) in degrees (WGS84), and "
        "optionally a height, which is stored but not used.",
        "minItems": 2,
        "maxItems": 3,
        "items": {"type": "number"},
    },
    "Point": _geometry_schema("Point", "A GeoJSON Point.", _POSITION),
    "Polygon": _geometry_schema(
        "Polygon",
        (
            "A GeoJSON Polygon: the exterior ring, then its holes. The last "
            "position of a ring is the same as its first."
        ),
        _RINGS,
    ),
    "MultiPolygon": _geometry_schema(
        "MultiPolygon",
        "A GeoJSON MultiPolygon: several parts, each like the coordinates of a Polygon.",
        {"type": "array", "minItems": 1, "items": _RINGS},
    ),
    "AnyGeometry": {
        "type": "object",
        "description": "A GeoJSON geometry, valid or not.",
        "properties": {
            "type": {"type": "string"},
            "coordinates": {"type": "array", "items": {}},
        },
        "required": ["type", "coordinates"],
    },
}
BARE_GEOMETRY: Final = {"$ref": "#/components/schemas/AnyGeometry"}
