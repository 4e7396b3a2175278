"""Values of the page of a project that its record does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from app.geometry import boundary_perimeter, middle_of, stored_rings
from app.pages.where import where_it_lies
from app.site.svg_map import Outline, SvgMap, draw_svg_map
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


class Drawing(NamedTuple):
    """The map of a project for paper, and for browsers without scripts.

    Attributes:
        corners: (longitude, latitude) of each; empty if there are too many to list.
        corner_count: positions of all rings, without those that close them.
        perimeter_km: the length of all rings; None without a boundary.
        where: where the boundary lies, in words; empty without one.
    """

    map: SvgMap
    corners: list[list[float]]
    corner_count: int
    perimeter_km: float | None
    where: str


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
    if not boundary:
        return Drawing(drawn, [], 0, None, "")
    rings = stored_rings(boundary[0])
    closing = np.array(rings.starts[1:]) - 1
    count = len(rings.lon) - len(closing)
    listed: list[list[float]] = []
    if count <= _CORNERS:
        listed = np.delete(np.stack([rings.lon, rings.lat], axis=1), closing, axis=0).tolist()
    where = where_it_lies(*middle_of(rings), project["country"])
    return Drawing(drawn, listed, count, boundary_perimeter(rings) / 1000, where)


def project_location(project: Mapping[str, Any]) -> str:
    """Say where a project lies; empty without a boundary."""
    if project["geometry"] is None:
        return ""
    rings = stored_rings(geometry_text(project["geometry"]))
    return where_it_lies(*middle_of(rings), project["country"])


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
