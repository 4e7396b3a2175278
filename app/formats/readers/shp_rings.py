"""The rings of a shapefile's polygon as a GeoJSON Polygon or MultiPolygon.

A record has exterior rings, which run clockwise, and holes, in any order. A hole belongs to the
exterior ring that it lies in.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import shapely

from app.formats.positions import Json, Points, unreadable_geometry
from app.geometry import GeometryInvalid, Problem
from app.geometry.problems import Place

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

_MOST_PAIRS: Final = 100  # for each ring: holes with exterior rings that may contain them
_BATCH: Final = 100  # holes
_LARGER: Final = 1 + 1e-9
_FEWEST: Final = 4  # positions of a ring with an area


@np.errstate(all="ignore")  # products can be too large for a float
def polygon_of_rings(rings: list[Points]) -> tuple[Json, bool]:
    """The Polygon or MultiPolygon of some rings, and True if all of them are wound as holes, and so
    are read as exterior rings.

    Raises:
        GeometryInvalid: a hole lies in no exterior ring, or there are too many to find out.
    """
    areas = np.array([_signed_area(ring) for ring in rings])
    is_hole = areas > 0
    if is_reversed := bool(is_hole.all()):
        is_hole[:] = False
    exteriors, holes = np.flatnonzero(~is_hole), np.flatnonzero(is_hole)
    parts = {exterior: [rings[exterior].tolist()] for exterior in exteriors.tolist()}
    for hole, owner in zip(
        holes.tolist(), _owners_of_holes(rings, areas, exteriors, holes), strict=True
    ):
        parts[owner].append(rings[hole].tolist())
    coordinates = list(parts.values())
    if len(coordinates) == 1:
        return {"type": "Polygon", "coordinates": coordinates[0]}, is_reversed
    return {"type": "MultiPolygon", "coordinates": coordinates}, is_reversed


def _signed_area(ring: Points) -> float:
    """Twice the area in the plane, negative for a ring that runs clockwise."""
    if len(ring) < _FEWEST:
        return 0.0
    # From the origin: large numbers would cancel each other, and a ring need not be closed.
    x, y = (ring - ring[0]).T
    return float(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1]))


def _owners_of_holes(
    rings: list[Points], areas: Floats, exteriors: Integers, holes: Integers
) -> list[int]:
    """The smallest exterior ring around each hole. A single one owns all holes: the validation of
    the polygon checks that they lie in it."""
    if len(exteriors) == 1 or not len(holes):
        return [int(exteriors[0])] * len(holes)
    shells = _ring_polygons([rings[exterior] for exterior in exteriors.tolist()])
    hole_polygons = _ring_polygons([rings[hole] for hole in holes.tolist()])
    inside: Any = shapely.point_on_surface(hole_polygons)
    x, y = shapely.get_x(inside), shapely.get_y(inside)
    hole, shell = _box_pairs(shells, inside)
    shapely.prepare(shells)
    # The point may lie on an island in the hole, which is smaller than the hole.
    is_larger = np.abs(areas[exteriors[shell]]) > areas[holes[hole]] * _LARGER
    is_in = is_larger & shapely.intersects_xy(shells[shell], x[hole], y[hole])
    hole, shell = hole[is_in], shell[is_in]
    order = np.argsort(-np.abs(areas[exteriors[shell]]), kind="stable")
    owners = np.full(len(holes), -1)
    owners[hole[order]] = exteriors[shell[order]]  # the smallest comes last, and stays
    if (orphans := holes[owners < 0]).size:
        raise GeometryInvalid(map(_orphan_problem, orphans.tolist()))
    owner_of_hole: list[int] = owners.tolist()
    return owner_of_hole


def _ring_polygons(rings: list[Points]) -> Any:
    """The polygon of each ring alone; None for rings without an area."""
    polygons: Any = np.full(len(rings), None)
    with_area = [number for number, ring in enumerate(rings) if len(ring) >= _FEWEST]
    if with_area:
        indices = np.repeat(with_area, [len(rings[number]) for number in with_area])
        positions = np.concatenate([rings[number] for number in with_area])
        shapely.linearrings(positions, indices=indices, out=polygons)
        polygons = shapely.polygons(polygons)
    return polygons


def _box_pairs(shells: Any, points: Any) -> tuple[Integers, Integers]:
    """The numbers of points and shells, as pairs in which the bounding box of the shell contains
    the point."""
    tree = shapely.STRtree(shells)
    batches: list[Any] = []
    for first in range(0, len(points), _BATCH):
        pairs = tree.query(points[first : first + _BATCH])
        pairs[0] += first
        batches.append(pairs)
        if sum(pairs.shape[1] for pairs in batches) > _MOST_PAIRS * (len(shells) + len(points)):
            message = "The polygon has too many rings, one around the other. Split it."
            raise GeometryInvalid([unreadable_geometry(message, "too_complex")])
    hole, shell = np.concatenate(batches, axis=1)
    return hole, shell


def _orphan_problem(ring: int) -> Problem:
    message = (
        "is wound as a hole, and lies in no exterior ring. Wind exterior rings clockwise, or leave "
        "this ring out."
    )
    return Place(ring=ring).problem("hole_outside", message)
