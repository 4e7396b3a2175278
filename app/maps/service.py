"""A map of an account's projects."""

from __future__ import annotations

from functools import cache
from typing import Any

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.geometry import Bounds
from app.http.etags import entity_tag
from app.maps.largest import Wanted, find_largest
from app.maps.reading import read_shapes
from app.models import Project
from app.policy.bounds import MAP_LEAST_PIXELS
from app.shapes import level_of, pixels, point_shape
from app.usage.service import counters
from app.values.strict_json import Fragment, dumps
from app.values.version import VERSION


def map_tag(account_id: str, wanted: Wanted, zoom: int) -> str:
    """The weak entity tag of a map, without reading it: of the query, and of what grows with each
    change of a project. The time of the last change is in it because a restored backup counts
    again from where it was."""
    newest = _newest().first(account_id=account_id)
    seen = (VERSION, account_id, counters(account_id).map_version, newest and newest.updated_at)
    return f"W/{entity_tag([repr((seen, wanted, zoom)).encode()])}"


def draw_map(account_id: str, wanted: Wanted, zoom: int) -> bytes:
    """The map as the text of a GeoJSON FeatureCollection.

    Raises:
        ServiceUnavailable: it is large, and too many others are before this request.
    """
    rows, matched = find_largest(account_id, wanted)
    drawn = [row for row in rows if pixels(_box(row), zoom) >= MAP_LEAST_PIXELS]
    shapes = read_shapes(account_id, drawn, level_of(zoom))
    features = [_feature(row, shapes.get(row.row), zoom) for row in rows]
    return dumps(
        {
            "type": "FeatureCollection",
            "features": features,
            "numberMatched": matched,
            "numberReturned": len(features),
        }
    )


def _box(row: Any) -> Bounds:
    return Bounds(row.west, row.south, row.east, row.north)


def _feature(row: Any, shape: str | None, zoom: int) -> dict[str, Any]:
    return {
        "type": "Feature",
        "id": row.id,
        "geometry": Fragment(shape or point_shape(_box(row), zoom)),
        "properties": {
            "id": row.id,
            "name": row.name,
            "status": row.status,
            "area_hectares": row.area_m2 / 10_000,
        },
    }


@cache
def _newest() -> CompiledQuery:
    """When a project of the account was last changed."""
    own = columns_of(Project, Project.updated_at)
    return CompiledQuery(own.order_by(Project.updated_at.desc(), Project.id.desc()).limit(1))
