"""A map of an account's projects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.geometry import Bounds, bbox_member, tightest_box
from app.geometry.shapes import level_of, pixels, point_shape
from app.http.etags import entity_tag
from app.lists.query import ListQuery
from app.policy.request_limits import MAP_LEAST_PIXELS
from app.projects.lookup import version_of_projects
from app.projects.map.colors import read_values
from app.projects.map.largest import find_largest
from app.projects.map.shapes import read_shapes
from app.values.strict_json import Fragment, dumps


def map_tag(account_id: str, query: ListQuery, zoom: int, color_by: str = "") -> str:
    """The weak entity tag of a map, without reading it."""
    state = (version_of_projects(account_id), query, zoom, color_by)
    return f"W/{entity_tag([repr(state).encode()])}"


def draw_map(account_id: str, query: ListQuery, zoom: int, color_by: str = "") -> bytes:
    """The map as the text of a GeoJSON FeatureCollection.

    Args:
        color_by: features have the ``value`` that a map is colored by, as in ``read_values``.

    Raises:
        ServiceUnavailable: it is large, and too many requests are waiting.
    """
    rows, matched = find_largest(account_id, query)
    drawn = [row for row in rows if pixels(_row_box(row), zoom) >= MAP_LEAST_PIXELS]
    shapes = read_shapes(account_id, drawn, level_of(zoom))
    values = read_values(account_id, rows, color_by)
    features = [_map_feature(row, shapes.get(row.row), zoom, values) for row in rows]
    box = tightest_box(map(_row_box, rows))
    return dumps(
        {
            "type": "FeatureCollection",
            **({"bbox": bbox_member(box)} if box else {}),
            "features": features,
            "numberMatched": matched,
            "numberReturned": len(features),
        }
    )


def _row_box(row: Any) -> Bounds:
    return Bounds(row.west, row.south, row.east, row.north)


def _map_feature(
    row: Any, shape: str | None, zoom: int, values: Mapping[int, str]
) -> dict[str, Any]:
    return {
        "type": "Feature",
        "id": row.id,
        "geometry": Fragment(shape or point_shape(_row_box(row), zoom)),
        "properties": {
            "id": row.id,
            "name": row.name,
            "status": row.status,
            "area_hectares": row.area_m2 / 10_000,
            **({"value": values[row.row]} if row.row in values else {}),
        },
    }
