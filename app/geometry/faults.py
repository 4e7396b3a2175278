"""Finding each place where a boundary breaks the planar rules of polygons (OGC Simple Features
1.2.1, 6.1.11).

GEOS reports one fault with its location. To find the others, this checks each ring alone, then the
rings of each part together, then the parts together. Whatever has a fault is left out of the next
check, so that no problem is reported that only follows from another one. It runs on invalid input
only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import numpy as np
import shapely

from app.geometry import timed
from app.geometry.locate import (
    NEAR,
    FaultLocation,
    fault_location,
    rings_at,
    segments_at,
    self_crossings,
)
from app.geometry.polygons import linear_rings
from app.geometry.problems import Place, Problem
from app.geometry.rings import Booleans, Floats, Rings
from app.geometry.timed import processor_seconds
from app.values.threads import let_others_run

_LONG: Final = 0.005  # seconds, during which no other thread could run
CROSSINGS_SECONDS: Final = 0.02  # processor time for each ring


def fault_problems(
    rings: Rings, polygons: Any, seconds: float, limit: float | None
) -> Iterator[Problem]:
    """Yield the faults of an invalid boundary that are found in time.

    Of a ring that crosses itself these are its crossings. Otherwise each ring, and then each part,
    has at most one.

    Args:
        polygons: its shapely geometry, a Polygon or MultiPolygon.
        seconds: the processor time after which the search ends, once it has found a fault.
        limit: None if checks are quick however edges lie. Else they run in another process, and
            together take at most this many seconds; perhaps no fault is found.
    """
    checks = _Checks() if limit is None else _TimedChecks(limit)
    before = began = processor_seconds()
    with suppress(_TooLong):
        for problem in _all_problems(rings, polygons, checks):
            yield problem
            now = processor_seconds()
            if now - began > seconds:
                return
            if now - before > _LONG:
                let_others_run()
            before = now


class _TooLong(Exception):
    """A check takes too long."""


class _Checks:
    """Checks of geometries, in this process."""

    def are_valid(self, geometries: Any) -> Booleans:
        valid: Booleans = shapely.is_valid(geometries)
        return valid

    def fault(self, geometry: Any) -> FaultLocation | None:
        return fault_location(shapely.is_valid_reason(geometry))


class _TimedChecks(_Checks):
    """Checks in another process. They raise _TooLong once they have taken ``seconds`` of processor
    time together."""

    def __init__(self, seconds: float) -> None:
        self._end = processor_seconds() + seconds

    def are_valid(self, geometries: Any) -> Booleans:
        valid = timed.are_valid(geometries, self._left())
        if valid is None:
            raise _TooLong
        return np.array(valid, bool)

    def fault(self, geometry: Any) -> FaultLocation | None:
        validity = timed.validity_reason(geometry, self._left())
        if validity is None:
            raise _TooLong
        return fault_location(validity)

    def _left(self) -> float:
        left = self._end - processor_seconds()
        if left <= 0:
            raise _TooLong
        return left


def _all_problems(rings: Rings, polygons: Any, checks: _Checks) -> Iterator[Problem]:
    """Yield a fault of each faulty ring, then between rings of one part, then between parts."""
    linear = linear_rings(polygons)
    ring_polygons: Any = shapely.polygons(linear)
    valid_rings = checks.are_valid(ring_polygons)
    for ring in np.flatnonzero(~valid_rings).tolist():
        yield from _ring_problems(rings, ring, ring_polygons[ring], checks)
    parts: Any = shapely.get_parts(polygons)
    valid_parts = checks.are_valid(parts)
    for part in np.flatnonzero(~valid_parts).tolist():
        exterior, end = rings.part_starts[part : part + 2]
        if valid_rings[exterior]:
            holes = [hole for hole in range(exterior + 1, end) if valid_rings[hole]]
            yield from _hole_problems(rings, linear, exterior, holes, checks)
    yield from _part_problems(rings, parts, np.flatnonzero(valid_parts).tolist(), checks)


def _ring_problems(rings: Rings, ring: int, polygon: Any, checks: _Checks) -> Iterator[Problem]:
    """Yield the problems of a ring that is no valid ``polygon`` by itself: the fault that GEOS
    finds, and where else it crosses itself."""
    span, place = rings.span(ring), rings.place(ring)
    lon, lat = rings.lon[span], rings.lat[span]
    if shapely.get_dimensions(shapely.convex_hull(polygon)) < 2:
        message = ": this ring has no area, because all its positions lie on one point or line."
        yield place.at(0).problem("zero_area", message, [float(lon[0]), float(lat[0])])
        return
    fault = checks.fault(polygon)
    assert fault is not None, "an invalid polygon has a fault"
    yield _self_intersection(place, lon, lat, fault)
    for crossing in self_crossings(lon, lat, processor_seconds() + CROSSINGS_SECONDS):
        if max(abs(crossing.lon - fault.lon), abs(crossing.lat - fault.lat)) > NEAR:
            yield _self_intersection(place, lon, lat, crossing)


def _self_intersection(place: Place, lon: Floats, lat: Floats, fault: FaultLocation) -> Problem:
    first, *others = segments_at(lon, lat, fault).tolist()
    other = f"the edge from position {others[-1]}" if others else "another edge"
    message = (
        f": the edge starting here crosses or touches {other} of the same ring, at {fault}. "
        "A ring must not cross or touch itself: move the positions, or split the ring there."
    )
    return place.at(first).problem("self_intersection", message, fault.coordinates)


def _hole_problems(
    rings: Rings, linear: Any, exterior: int, holes: list[int], checks: _Checks
) -> Iterator[Problem]:
    """Yield the faults between rings of one part, each valid alone; ``linear`` has all rings."""

    def polygon(holes: list[int]) -> Any:
        return shapely.polygons(linear[exterior], holes=linear[holes])

    def explain(holes: list[int], fault: FaultLocation) -> tuple[int, Problem]:
        hole, position = max(rings_at(rings, holes, fault).items())
        others = [ring for ring in rings_at(rings, [exterior, *holes], fault) if ring != hole]
        code, message = _hole_fault(fault, [rings.place(ring).ring for ring in others])
        return hole, rings.place(hole).at(position).problem(code, message, fault.coordinates)

    return _find_faults(holes, polygon, explain, checks)


def _hole_fault(fault: FaultLocation, others: list[int | None]) -> tuple[str, str]:
    """Return code and message for a fault of a hole that meets the rings ``others``."""
    if fault.reason == "Interior is disconnected":
        message = (
            f": here this hole touches another ring, at {fault}, and cuts the part into pieces. "
            "Send the pieces as parts of a MultiPolygon."
        )
        return "interior_disconnected", message
    if fault.reason == "Hole lies outside shell":
        message = (
            "is outside ring 0, the exterior ring. A hole must lie inside it. Send an area outside "
            "as a separate part of a MultiPolygon."
        )
        return "hole_outside", message
    if fault.reason == "Holes are nested":
        return "holes_overlap", "is inside another hole. Leave out the inner hole."
    if 0 in others:
        message = (
            ": the edge starting here crosses ring 0, the exterior ring, or lies on it, at "
            f"{fault}. Keep the hole inside; it may touch the exterior ring only at single points."
        )
        return "hole_outside", message
    other = f"ring {others[0]}, another hole" if others else "another hole"
    message = f": the edge starting here crosses {other}, or lies on it, at {fault}"
    return "holes_overlap", f"{message}. Merge the two holes, or move them apart."


def _part_problems(
    rings: Rings, parts: Any, valid: list[int], checks: _Checks
) -> Iterator[Problem]:
    """Yield the faults between the parts that are valid alone."""

    def multipolygon(members: list[int]) -> Any:
        return shapely.multipolygons(parts[members])

    def explain(members: list[int], fault: FaultLocation) -> tuple[int, Problem]:
        candidates = [
            ring for member in members for ring in range(*rings.part_starts[member : member + 2])
        ]
        meeting = rings_at(rings, candidates, fault)
        ring, position = max(meeting.items())
        part = rings.part_of(ring)
        inside = shapely.intersects_xy(parts[members], *fault.coordinates)
        others = {*map(rings.part_of, meeting), *np.array(members)[inside].tolist()}
        other = f"part {min(others - {part})}" if others - {part} else "another part"
        message = (
            f": here this part overlaps {other}, lies inside it, or shares an edge with it, at "
            f"{fault}. Merge the two parts; parts may touch only at single points."
        )
        place = rings.place(ring).at(position)
        return part, place.problem("parts_overlap", message, fault.coordinates)

    return _find_faults(valid, multipolygon, explain, checks)


def _find_faults(
    members: list[int],
    build: Callable[[list[int]], Any],
    explain: Callable[[list[int], FaultLocation], tuple[int, Problem]],
    checks: _Checks,
) -> Iterator[Problem]:
    """Yield a fault, leave out the member that has it, and check the remaining members again.

    ``build`` returns the geometry of the remaining members; ``explain`` returns the member with a
    fault, and the problem.
    """
    while (fault := checks.fault(build(members))) is not None:
        faulty, problem = explain(members, fault)
        yield problem
        members = [member for member in members if member != faulty]
