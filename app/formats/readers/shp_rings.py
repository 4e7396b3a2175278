"""The rings of a shapefile's polygon as the coordinates of a GeoJSON MultiPolygon.

A record has exterior rings, which run clockwise, and holes, in any order. A hole belongs to the
exterior ring that it lies in.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import shapely

from app.formats.positions import Points, unreadable_geometry
from app.geometry import GeometryInvalid, Problem
from app.geometry.problems import Place

_MOST_PAIRS: Final = 100  # for each ring: holes with exterior rings that may contain them
_LARGER: Final = 1 + 1e-9
_FEWEST: Final = 4  # positions of a ring with an area


@np.errstate(all="ignore")  # products can be too large for a float
def polygons_of_rings(rings: list[Points]) -> tuple[list[list[Any]], bool]:
    """The parts of some rings, each an exterior ring with its holes, and True if all rings are
    wound as holes, and so are read as exterior rings.

    Raises:
        GeometryInvalid: a hole lies in no exterior ring, or there are too many to find out.
    """
    areas = [_signed_area(ring) for ring in rings]
    is_reversed = all(area > 0 for area in areas)
    parts = {n: [rings[n].tolist()] for n, area in enumerate(areas) if is_reversed or not area > 0}
    holes = [n for n in range(len(rings)) if n not in parts]
    if len(parts) == 1 or not holes:  # the validation of a polygon checks that its holes lie in it
        owners = [*parts] * len(holes)
    else:
        owners = _owners_of_holes(rings, areas, [*parts], holes)
    for hole, owner in zip(holes, owners, strict=True):
        parts[owner].append(rings[hole].tolist())
    return list(parts.values()), is_reversed


def _signed_area(ring: Points) -> float:
    """Twice the area in the plane, negative for a ring that runs clockwise."""
    if len(ring) < _FEWEST:
        return 0.0
    # From the origin: large numbers would cancel each other, and a ring need not be closed.
    x, y = (ring - ring[0]).T
    return float(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1]))


def _owners_of_holes(
    rings: list[Points], areas: list[float], exteriors: list[int], holes: list[int]
) -> list[int]:
    """The smallest exterior ring around each hole."""
    shells: Any = np.array([_ring_polygon(rings[exterior]) for exterior in exteriors])
    sizes = np.abs([areas[exterior] for exterior in exteriors])
    shapely.prepare(shells)
    tree = shapely.STRtree(shells)
    owners, orphans, pairs = list[int](), list[Problem](), 0
    for hole in holes:
        inside = shapely.point_on_surface(_ring_polygon(rings[hole]))
        near = tree.query(inside)
        pairs += len(near)
        if pairs > _MOST_PAIRS * len(rings):
            message = "The polygon has too many rings, one around the other. Split it."
            raise GeometryInvalid([unreadable_geometry(message, "too_complex")])
        # The point may lie on an island in the hole, which is smaller than the hole.
        near = near[sizes[near] > areas[hole] * _LARGER]
        around = near[shapely.intersects(shells[near], inside)]
        if len(around):
            owners.append(exteriors[around[sizes[around].argmin()]])
        else:
            orphans.append(_orphan_problem(hole))
    if orphans:
        raise GeometryInvalid(orphans)
    return owners


def _ring_polygon(ring: Points) -> Any:
    """The polygon of a ring alone; None: it has no area."""
    return shapely.polygons(ring) if len(ring) >= _FEWEST else None


def _orphan_problem(ring: int) -> Problem:
    message = (
        "is wound as a hole, and lies in no exterior ring. Wind exterior rings clockwise, or leave "
        "this ring out."
    )
    return Place(ring=ring).problem("hole_outside", message)
