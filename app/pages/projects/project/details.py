"""Values of the page of a project that its record does not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.geometry import boundary_perimeter, stored_rings
from app.values.strict_json import dumps, loads

# Labels of the sources of boundaries.
SOURCES: Final[dict[str, str]] = {
    "api": "API",
    "import": "import",
    "dashboard": "hand",
    "cli": "command line",
    "database": "SQL",
    "ogc": "GIS program",
}


def perimeter_km(geometry: object) -> float | None:
    """Return the length of a boundary's edges in km, including its holes; None without a boundary.

    Args:
        geometry: as in the record of a project.
    """
    if geometry is None:
        return None
    return boundary_perimeter(stored_rings(geometry_text(geometry))) / 1000


def geometry_text(geometry: object) -> str:
    """Return the geometry of a record as GeoJSON text; ``null`` without one."""
    return dumps(geometry).decode()


def asset_place(asset: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an asset for the map: ``id``, ``name``, ``url``, and ``place``, [longitude, latitude];
    None without a location."""
    if asset["location"] is None:
        return None
    location = loads(dumps(asset["location"]))
    return {
        "id": asset["id"],
        "name": asset["name"],
        "url": f"/assets/{asset['project_id']}/{asset['id']}",
        "place": location["coordinates"][:2],
    }
