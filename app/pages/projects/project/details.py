"""What the page of a project shows besides its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.geometry import boundary_perimeter, stored_rings
from app.values.strict_json import dumps, loads

# How a boundary came, in words.
SOURCES: Final[dict[str, str]] = {
    "api": "API",
    "import": "import",
    "dashboard": "hand",
    "cli": "command line",
    "database": "SQL",
    "ogc": "GIS program",
}


def perimeter_km(geometry: object) -> float | None:
    """The length of a boundary's edges in km, those of its holes included; None without one.

    Args:
        geometry: as in the record of a project.
    """
    if geometry is None:
        return None
    return boundary_perimeter(stored_rings(text_of(geometry))) / 1000


def text_of(geometry: object) -> str:
    """The GeoJSON text of a record's geometry; ``null`` without one."""
    return dumps(geometry).decode()


def asset_place(asset: Mapping[str, Any]) -> dict[str, Any] | None:
    """Where an asset is, for the map: ``place`` is longitude and latitude; None: nowhere."""
    if asset["location"] is None:
        return None
    location = loads(dumps(asset["location"]))
    url = f"/assets/{asset['project_id']}/{asset['id']}"
    return {
        "id": asset["id"],
        "name": asset["name"],
        "url": url,
        "place": location["coordinates"][:2],
    }
