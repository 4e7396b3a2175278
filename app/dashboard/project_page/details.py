"""What the page of a project shows besides its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.events.service import latest_events
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
_CHANGES_SHOWN: Final = 10
_ACTORS: Final = ("created_by", "updated_by", "archived_by", "restored_by")
_DONE: Final[dict[str, str]] = {
    "project.created": "created the project",
    "project.updated": "changed",
    "project.archived": "archived the project",
    "project.restored": "restored the project",
}
_FIELDS: Final[dict[str, str]] = {
    "geometry": "boundary",
    "external_id": "external ID",
    "area_hectares": "area",
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
    """The GeoJSON text of a record's geometry."""
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


def latest_changes(account_id: str, project_id: str) -> list[dict[str, Any]]:
    """Who changed what lately, the newest first: ``who``, ``what`` and ``at``. Events are kept for
    EVENT_DAYS."""
    return [_change(event) for event in latest_events(account_id, project_id, _CHANGES_SHOWN)]


def _change(event: Mapping[str, Any]) -> dict[str, Any]:
    data = event["data"]
    actor = next((data[name] for name in _ACTORS if data.get(name)), None) or {}
    what = _DONE.get(event["type"], event["type"])
    if event["type"] == "project.updated":
        names = [name for name in data["changes"] if name != "area_hectares"]
        what += f" {_listed([_FIELDS.get(name, name) for name in names])}"
    return {"who": actor.get("email") or "Somebody", "what": what, "at": event["created_at"]}


def _listed(names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
