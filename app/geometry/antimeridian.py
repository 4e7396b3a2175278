"""Boundaries that cross the antimeridian, split there (RFC 7946 section 3.1.9)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import shapely

from app.geometry import timed
from app.geometry.polygons import build_polygons
from app.geometry.rings import Floats, Integers, Rings, read_rings
from app.policy.request_limits import GEOMETRY_POSITIONS, VALIDATION_SECONDS

_DECIMALS: Final = 12  # more than anybody writes


def split_at_antimeridian(value: dict[str, Any]) -> dict[str, Any] | None:
    """Split a boundary with edges across the antimeridian into a valid MultiPolygon, in GeoJSON,
    without heights. Such an edge goes the short way round.

    None: a ring goes around a pole, the boundary has other faults, or splitting takes too long.

    Args:
        value: a Polygon or MultiPolygon in which ``read_boundary`` finds such edges only.
    """
    is_multi = value["type"] == "MultiPolygon"
    rings = read_rings(value["coordinates"], multi=is_multi, max_positions=GEOMETRY_POSITIONS)
    lon = None if rings is None else _unwrap_rings(rings)
    if rings is None or lon is None:
        return None
    unwrapped = build_polygons(replace(rings, lon=lon))
    if not timed.is_valid(unwrapped, VALIDATION_SECONDS / 2)[0]:
        return None
    parts: list[Any] = []
    for turn in (-360, 0, 360):
        box = shapely.box(turn - 180, -90, turn + 180, 90)
        inside = timed.intersection(unwrapped, box, VALIDATION_SECONDS / 4)
        if inside is None:
            return None
        polygons = shapely.get_parts(shapely.get_parts(inside))
        is_polygon = shapely.get_type_id(polygons) == shapely.GeometryType.POLYGON
        polygons = polygons[is_polygon & ~shapely.is_empty(polygons)]
        parts += [_move_polygon(polygon, -turn) if turn else polygon for polygon in polygons]
    whole = shapely.multipolygons(parts)
    if not timed.is_valid(whole, VALIDATION_SECONDS / 4)[0]:
        return None
    return {"type": "MultiPolygon", "coordinates": [_polygon_coordinates(part) for part in parts]}


def _unwrap_rings(rings: Rings) -> Floats | None:
    """Longitudes without jumps within each part, beyond ±180 if need be."""
    lon = np.concatenate(
        [
            np.unwrap(rings.lon[rings.span(ring)], period=360)
            for ring in range(len(rings.starts) - 1)
        ]
    )
    # Where nothing jumps, the numbers stay as they were sent.
    lon = np.where(np.abs(lon - rings.lon) < 1, rings.lon, lon)
    starts: Integers = np.array(rings.starts)
    if (np.abs(lon[starts[1:] - 1] - lon[starts[:-1]]) > 1).any():
        return None
    middles = (np.minimum.reduceat(lon, starts[:-1]) + np.maximum.reduceat(lon, starts[:-1])) / 2
    exterior = np.repeat(rings.exteriors, np.diff(rings.part_starts))
    turns = 360 * np.round((middles[exterior] - middles) / 360)  # from holes to exterior rings
    moved: Floats = lon + np.repeat(turns, np.diff(starts))
    return moved


def _move_polygon(polygon: Any, degrees: int) -> Any:
    return shapely.transform(
        polygon,
        lambda xy: np.column_stack((np.round(xy[:, 0] + degrees, _DECIMALS), xy[:, 1])),
    )


def _polygon_coordinates(polygon: Any) -> list[Any]:
    wound = shapely.orient_polygons(polygon)  # counter-clockwise, as stored
    return [shapely.get_coordinates(ring).tolist() for ring in shapely.get_rings(wound)]
