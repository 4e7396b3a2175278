"""Where a boundary breaks the planar rules of polygons (OGC Simple Features 1.2.1, 6.1.11).

GEOS names one fault and one place. To tell more than one, each ring is looked at alone, then the
rings of each part together, then the parts; and what has a fault is set aside before the next look,
so that nothing is told that only follows from another fault. Runs on invalid input only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import shapely

from app.geometry.locate import FaultLocation, locate_fault, rings_at, segments_at
from app.geometry.problems import Problem
from app.geometry.rings import Rings
from app.geometry.validity import linear_rings

_WORK = 300_000
"""Positions that one search may check again; it bounds the time that a bad request can take.

GEOS needs up to quadratic time for nested members, so that 50 pairs of them count as a position.
"""


def fault_problems(rings: Rings, polygons: Any) -> Iterator[Problem]:
    """Yield the faults of an invalid boundary: at least one, and one for each faulty part.

    ``polygons`` is its shapely geometry, a Polygon or MultiPolygon.
    """
    linear = linear_rings(polygons)
    alone: Any = shapely.polygons(linear)
    ring_sound: Any = shapely.is_valid(alone)
    for ring in np.flatnonzero(~ring_sound).tolist():
        yield _ring_problem(rings, ring, alone[ring])
    parts: Any = shapely.get_parts(polygons)
    part_sound: Any = shapely.is_valid(parts)
    for part in np.flatnonzero(~part_sound).tolist():
        exterior, end = rings.part_starts[part : part + 2]
        if ring_sound[exterior]:
            holes = [hole for hole in range(exterior + 1, end) if ring_sound[hole]]
            yield from _hole_problems(rings, linear, exterior, holes)
    yield from _part_problems(rings, parts, np.flatnonzero(part_sound).tolist())


def _ring_problem(rings: Rings, ring: int, alone: Any) -> Problem:
    """Make the problem of a ring that is not a polygon by itself; ``alone`` is that polygon."""
    span, place = rings.span(ring), rings.place(ring)
    lon, lat = rings.lon[span], rings.lat[span]
    if shapely.get_dimensions(shapely.convex_hull(alone)) < 2:
        told = "starts a ring without area: all its positions lie on one point or one line."
        return place.at(0).problem("zero_area", told, [float(lon[0]), float(lat[0])])
    finding = locate_fault(alone)
    assert finding is not None, "an invalid polygon has a finding"
    first, *others = segments_at(lon, lat, finding).tolist()
    other = f"the edge from position {others[-1]}" if others else "another edge"
    told = (
        f"starts an edge that crosses or touches {other} of the same ring, at {finding}. "
        "A ring may not meet itself: move the positions, or split the ring there."
    )
    return place.at(first).problem("self_intersection", told, finding.coordinates)


def _hole_problems(rings: Rings, linear: Any, exterior: int, holes: list[int]) -> Iterator[Problem]:
    """Yield the faults between rings of one part, each sound alone; ``linear`` is all rings."""

    def polygon(kept: list[int]) -> Any:
        return shapely.polygons(linear[exterior], holes=linear[kept])

    def explain(kept: list[int], finding: FaultLocation) -> tuple[int, Problem]:
        hole, position = max(rings_at(rings, kept, finding).items())
        others = [ring for ring in rings_at(rings, [exterior, *kept], finding) if ring != hole]
        code, told = _hole_fault(finding, [rings.place(ring).ring for ring in others])
        return hole, rings.place(hole).at(position).problem(code, told, finding.coordinates)

    return _peel(holes, polygon, explain)


def _hole_fault(finding: FaultLocation, others: list[int | None]) -> tuple[str, str]:
    """Return the code and the text for a fault of a hole that meets ``others`` at the finding."""
    if finding.reason == "Interior is disconnected":
        told = (
            f"is where this hole touches another ring, at {finding}, in such a way that the part "
            "falls in pieces. Send the pieces as parts of a MultiPolygon."
        )
        return "interior_disconnected", told
    if finding.reason == "Hole lies outside shell":
        told = "is outside of ring 0, the exterior ring. A hole lies inside of it; an area outside"
        return "hole_outside", f"{told} is a part of its own, in a MultiPolygon."
    if finding.reason == "Holes are nested":
        return "holes_overlap", "is inside another hole. Leave out the inner one of the two holes."
    if 0 in others:
        told = f"starts an edge that crosses ring 0, the exterior ring, or lies on it, at {finding}"
        return "hole_outside", f"{told}. Keep the hole inside; it may touch at single points."
    other = f"the hole of ring {others[0]}" if others else "another hole"
    told = f"starts an edge that crosses {other}, or lies on it, at {finding}"
    return "holes_overlap", f"{told}. Make one hole of the two, or move them apart."


def _part_problems(rings: Rings, parts: Any, sound: list[int]) -> Iterator[Problem]:
    """Yield the faults between those of the parts that are valid alone."""

    def multipolygon(kept: list[int]) -> Any:
        return shapely.multipolygons(parts[kept])

    def explain(kept: list[int], finding: FaultLocation) -> tuple[int, Problem]:
        candidates = [r for k in kept for r in range(*rings.part_starts[k : k + 2])]
        meeting = rings_at(rings, candidates, finding)
        ring, position = max(meeting.items())
        part = rings.part_of(ring)
        inside = shapely.intersects_xy(parts[kept], *finding.coordinates)
        others = {*map(rings.part_of, meeting), *np.array(kept)[inside].tolist()}
        other = f"part {min(others - {part})}" if others - {part} else "another part"
        told = (
            f"is where this part overlaps {other}, lies in it, or shares an edge with it, at "
            f"{finding}. Make one part of the two; parts may touch at single points only."
        )
        place = rings.place(ring).at(position)
        return part, place.problem("parts_overlap", told, finding.coordinates)

    return _peel(sound, multipolygon, explain)


def _peel(
    kept: list[int],
    build: Callable[[list[int]], Any],
    explain: Callable[[list[int], FaultLocation], tuple[int, Problem]],
) -> Iterator[Problem]:
    """Yield a fault, set aside the member that has it, and look again at what is left.

    ``build`` makes the geometry of the members that are left, ``explain`` the problem and the
    member that has it. How often is bounded by the size of the geometry, but at least once.
    """
    effort = 1 + int(shapely.get_num_coordinates(build(kept))) + len(kept) ** 2 // 50
    for _ in range(max(1, _WORK // effort)):
        finding = locate_fault(build(kept))
        if finding is None:
            return
        culprit, problem = explain(kept, finding)
        yield problem
        kept = [member for member in kept if member != culprit]
