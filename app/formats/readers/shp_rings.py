"""The rings of a shapefile's polygon as a GeoJSON Polygon or MultiPolygon.

A record has exterior rings, which run clockwise, and holes, in any order. A hole belongs to the
exterior ring that it lies in.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import shapely

from app.formats.positions import Json, Points, unreadable
from app.geometry import GeometryInvalid, Problem
from app.geometry.problems import Place

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

_MOST_PAIRS: Final = 2_000_000  # of a hole and an exterior ring around which it may lie
_BATCH: Final = 100  # holes
_LARGER: Final = 1 + 1e-9
_FEWEST: Final = 4  # positions of a ring that has an inside


@np.errstate(all="ignore")  # of numbers whose product no float holds
def polygons(rings: list[Points]) -> tuple[Json, bool]:
    """The Polygon or MultiPolygon of some rings, and True if all of them are wound as holes, so
    that they were taken as exterior rings.

    Raises:
        GeometryInvalid: a hole lies in no exterior ring, or there are too many to tell.
    """
    areas = np.array([_signed_area(ring) for ring in rings])
    is_hole = areas > 0
    if is_reversed := bool(is_hole.all()):
        is_hole[:] = False
    exteriors, holes = np.flatnonzero(~is_hole), np.flatnonzero(is_hole)
    parts = {exterior: [rings[exterior].tolist()] for exterior in exteriors.tolist()}
    for hole, owner in zip(holes.tolist(), _owners(rings, areas, exteriors, holes), strict=True):
        parts[owner].append(rings[hole].tolist())
    coordinates = list(parts.values())
    if len(coordinates) == 1:
        return {"type": "Polygon", "coordinates": coordinates[0]}, is_reversed
    return {"type": "MultiPolygon", "coordinates": coordinates}, is_reversed


def _signed_area(ring: Points) -> float:
    """Twice the area in the plane, negative for a ring that runs clockwise."""
    if len(ring) < _FEWEST:
        return 0.0
    x, y = (ring - ring[0]).T  # near the origin: large numbers would cancel each other
    return float(np.dot(x, np.roll(y, -1)) - np.dot(np.roll(x, -1), y))


def _owners(rings: list[Points], areas: Floats, exteriors: Integers, holes: Integers) -> list[int]:
    """The smallest exterior ring around each hole. A single one owns all holes: whether they lie in
    it is checked by the validation of the polygon."""
    if len(exteriors) == 1 or not len(holes):
        return [int(exteriors[0])] * len(holes)
    shells = _insides([rings[exterior] for exterior in exteriors.tolist()])
    inside: Any = shapely.point_on_surface(_insides([rings[hole] for hole in holes.tolist()]))
    x, y = shapely.get_x(inside), shapely.get_y(inside)
    hole, shell = _near(shells, inside)
    shapely.prepare(shells)
    # A hole may have an island in it, and the point on that.
    is_larger = np.abs(areas[exteriors[shell]]) > areas[holes[hole]] * _LARGER
    is_in = is_larger & shapely.intersects_xy(shells[shell], x[hole], y[hole])
    hole, shell = hole[is_in], shell[is_in]
    order = np.argsort(-np.abs(areas[exteriors[shell]]), kind="stable")
    owners = np.full(len(holes), -1)
    owners[hole[order]] = exteriors[shell[order]]  # the smallest comes last, and stays
    if (orphans := holes[owners < 0]).size:
        raise GeometryInvalid(map(_orphan, orphans.tolist()))
    owned: list[int] = owners.tolist()
    return owned


def _insides(rings: list[Points]) -> Any:
    """The polygon of each ring alone; None for rings that make none."""
    insides: Any = np.full(len(rings), None)
    made = [number for number, ring in enumerate(rings) if len(ring) >= _FEWEST]
    if made:
        indices = np.repeat(made, [len(rings[number]) for number in made])
        positions = np.concatenate([rings[number] for number in made])
        shapely.linearrings(positions, indices=indices, out=insides)
        insides = shapely.polygons(insides)
    return insides


def _near(shells: Any, points: Any) -> tuple[Integers, Integers]:
    """Pairs of (point, shell whose bounding box contains it), by their numbers."""
    tree = shapely.STRtree(shells)
    found: list[Any] = []
    for first in range(0, len(points), _BATCH):
        pairs = tree.query(points[first : first + _BATCH])
        pairs[0] += first
        found.append(pairs)
        if sum(pairs.shape[1] for pairs in found) > _MOST_PAIRS:
            message = "The polygon has too many rings, one around the other. Split it."
            raise GeometryInvalid([unreadable(message, "too_complex")])
    hole, shell = np.concatenate(found, axis=1)
    return hole, shell


def _orphan(ring: int) -> Problem:
    message = (
        "is wound as a hole, and lies in no exterior ring. Wind exterior rings clockwise, or leave "
        "this ring out."
    )
    return Place(ring=ring).problem("hole_outside", message)
