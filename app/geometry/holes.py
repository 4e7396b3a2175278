"""Dividing a polygon with holes into polygons without."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import numpy as np
import shapely

from app.geometry.rings import Floats

_AREA_TOLERANCE: Final = 1e-9  # the share by which the parts may differ from the polygon


def split_holes(polygon: Any) -> Any:
    """Cut a polygon through each of its holes.

    Each cut is an edge of a constrained Delaunay triangulation, so it joins two positions of the
    polygon: no position is new, no area is lost, and the parts only touch. One goes to the west
    from the westernmost position of each hole, and one to the east from the easternmost, so every
    hole lies on a way across the polygon.

    Args:
        polygon: a valid one, without heights. Whole numbers are exact. The time grows with the
            square of its holes: 4,000 take a second.

    Returns:
        An array of the parts, counter-clockwise, from west to east; None where it failed.
    """
    triangles = _triangulate(polygon)
    if triangles is None:
        return None
    corners = shapely.get_coordinates(shapely.get_parts(triangles)).reshape(-1, 4, 2)
    edges = np.concatenate([corners[:, :2], corners[:, 1:3], corners[:, 2:4]])
    edges = np.concatenate([edges, edges[:, ::-1]])
    edges = edges[np.lexsort(edges[:, 0].T)]
    rings = shapely.get_rings(polygon)
    cuts = [cut for hole in rings[1:] for cut in _hole_cuts(shapely.get_coordinates(hole), edges)]
    lines = shapely.union_all([*rings, *map(shapely.LineString, cuts)])
    faces = shapely.get_parts(shapely.polygonize([lines]))
    shapely.prepare(polygon)
    parts = faces[shapely.contains_properly(polygon, shapely.point_on_surface(faces))]
    is_whole = np.isclose(
        shapely.area(parts).sum(), shapely.area(polygon), rtol=_AREA_TOLERANCE, atol=0
    )
    if not is_whole or shapely.get_num_interior_rings(parts).any():
        return None
    west, south, *_ = shapely.bounds(parts).T
    return shapely.orient_polygons(parts[np.lexsort((south, west))])


def _triangulate(polygon: Any) -> Any:
    for side in (1, -1):  # where holes touch, GEOS may fail, but not with the mirror image
        with suppress(shapely.errors.GEOSException):
            return _mirrored(shapely.constrained_delaunay_triangles(_mirrored(polygon, side)), side)
    return None


def _mirrored(shape: Any, side: int) -> Any:
    """A shape, or with -1 its mirror image."""
    return shapely.transform(shape, lambda positions: positions * (side, 1) + 0.0)


def _hole_cuts(hole: Floats, edges: Floats) -> list[Floats]:
    """The cuts to the west and to the east of a hole. There may be none where it touches another
    ring, and so is joined to that already.

    Args:
        edges: of the triangles, in both directions, by the latitude and longitude of their starts.
    """
    cuts = []
    for start, is_ahead in (
        (hole[np.lexsort(hole.T[::-1])[0]], np.less),
        (hole[np.lexsort(hole.T[::-1])[-1]], np.greater),
    ):
        from_start = edges[_slice_of(start, edges[:, 0])]
        ahead = from_start[is_ahead(from_start[:, 1, 0], start[0])]
        if len(ahead):
            lengths = np.square(ahead[:, 1] - start).sum(axis=1)
            cuts.append(ahead[np.argmin(lengths)])
    return cuts


def _slice_of(start: Floats, starts: Floats) -> slice:
    """The slice of sorted positions that equal one."""
    low, high = (np.searchsorted(starts[:, 1], start[1], side) for side in ("left", "right"))
    row = starts[low:high, 0]
    return slice(
        int(low + np.searchsorted(row, start[0], "left")),
        int(low + np.searchsorted(row, start[0], "right")),
    )
