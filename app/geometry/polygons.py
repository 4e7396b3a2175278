"""Shapely's polygons of a boundary's rings, and the winding of rings."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely

from app.geometry.bounding_boxes import boundary_bounds, middle_of_box
from app.geometry.rings import Booleans, Rings, contains_point


def build_polygons(rings: Rings) -> Any:
    """Build shapely's Polygon or MultiPolygon of a boundary, without third ordinates."""
    kind = shapely.GeometryType.MULTIPOLYGON if rings.multi else shapely.GeometryType.POLYGON
    offsets = [np.array(rings.starts), np.array(rings.part_starts)]
    if rings.multi:
        offsets.append(np.array([0, len(rings.exteriors)]))
    positions = np.column_stack((rings.lon, rings.lat))
    return shapely.from_ragged_array(kind, positions, tuple(offsets))[0]


def middle_of(rings: Rings) -> tuple[float, float]:
    """The longitude and latitude of the middle of a valid boundary: that of the box around it; if
    it is not within the boundary, a point within its largest part."""
    longitude, latitude = middle_of_box(boundary_bounds(rings))
    if contains_point(rings, longitude, latitude):
        return longitude, latitude
    parts = shapely.get_parts(build_polygons(rings))
    point = shapely.point_on_surface(parts[shapely.area(parts).argmax()])
    return point.x, point.y


def polygon_rings(geometry: Any) -> Rings:
    """The rings of the polygons in a geometry; other geometries in it are left out."""
    parts = shapely.get_parts(shapely.get_parts(geometry))
    polygons = parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON]
    filled = polygons[~shapely.is_empty(polygons)]
    if not len(filled):
        return Rings(np.empty(0), np.empty(0), [0], [0], True, b"")
    _, positions, (starts, part_starts) = shapely.to_ragged_array(filled)
    lon, lat = np.ascontiguousarray(positions[:, 0]), np.ascontiguousarray(positions[:, 1])
    return Rings(lon, lat, starts.tolist(), part_starts.tolist(), True, b"")


def linear_rings(polygons: Any) -> Any:
    """Return the rings of a Polygon or MultiPolygon as an array of shapely's LinearRings."""
    return shapely.get_rings(shapely.get_parts(polygons))


def wrongly_wound(rings: Rings, polygons: Any) -> Booleans:
    """Return for each valid ring True if its winding violates RFC 7946 section 3.1.6.

    Exteriors are counter-clockwise and holes clockwise.
    """
    wrong: Booleans = shapely.is_ccw(linear_rings(polygons))
    wrong[rings.exteriors] = ~wrong[rings.exteriors]
    return wrong
