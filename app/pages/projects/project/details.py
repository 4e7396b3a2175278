"""Values of the page of a project that its record does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from app.geometry import boundary_perimeter, stored_rings
from app.site.svg_map import Outline, SvgMap, draw_svg_map, outline_rings
from app.values.strict_json import dumps, loads

_CORNERS: Final = 40  # most that are numbered on the drawn map and listed

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


class Drawing(NamedTuple):
    """The map of a project for paper, and for browsers without scripts.

    Attributes:
        corners: (longitude, latitude) of each; empty if there are too many to list.
        corner_count: positions of all rings, without those that close them.
    """

    map: SvgMap
    corners: list[list[float]]
    corner_count: int


def draw_project(project: Mapping[str, Any], assets: Sequence[Mapping[str, Any]]) -> Drawing | None:
    """Draw the boundary of a project and its assets; None if nothing has a place."""
    boundary = [] if project["geometry"] is None else [geometry_text(project["geometry"])]
    outlines = [Outline(project["name"], "", text) for text in boundary]
    outlines += [
        Outline(asset["name"], "", geometry_text(asset["location"]))
        for asset in assets
        if asset["location"] is not None
    ]
    drawn = draw_svg_map(outlines)
    if drawn is None:
        return None
    rings = [ring[:-1] for text in boundary for ring in outline_rings(text)]
    count = sum(map(len, rings))
    listed = [position for ring in rings for position in ring.tolist()] if count <= _CORNERS else []
    return Drawing(drawn, listed, count)


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
