"""A project's boundary: a GeoJSON Polygon or MultiPolygon, checked and measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from time import thread_time
from typing import Any, Final

import numpy as np
import orjson
import shapely

from app.geometry import timed
from app.geometry.area import boundary_area, covers_over_half_earth
from app.geometry.bounding_boxes import Bounds, boundary_bounds
from app.geometry.complexity import SMALL, is_cheap_to_validate
from app.geometry.countries.location import Country, country_of
from app.geometry.edges import edge_problems
from app.geometry.faults import fault_problems
from app.geometry.members import read_members
from app.geometry.polygons import build_polygons, wrongly_wound
from app.geometry.problems import MAX_PROBLEMS, GeometryInvalid, Place, Problem, raise_if_any
from app.geometry.rings import Booleans, Rings, read_rings, stored_rings
from app.geometry.structure import structure_problems, within_range
from app.geometry.timed import Slot
from app.policy.request_limits import GEOMETRY_POSITIONS, VALIDATION_SECONDS

# Locating a fault takes as long as finding that there is one, and no other thread runs meanwhile:
# what takes longer than this is done in another process. Real boundaries take less than half a
# microsecond for each position.
LOCATED_HERE: Final = (0.005, 1e-6)  # seconds in any case, and in addition per position

# Processor time for the search for faults: of a small boundary, and of a larger one. The first one
# may take longer: that the whole is invalid can be plain, and not which of its rings are.
SEARCH_SECONDS: Final = (0.02, 0.1)
FIRST_FAULT_SECONDS: Final = 0.4


@dataclass(frozen=True, slots=True)
class Boundary:
    """A valid boundary.

    ``type`` is "Polygon" or "MultiPolygon". ``text`` is the GeoJSON to store and send:
    ``{"type":…,"coordinates":…}`` with the numbers as they were sent, each ring wound by RFC 7946.
    ``area_m2`` is the geodesic area on WGS84 in whole m² (1 m² is 0.0001 ha). ``positions`` counts
    all, including the closing ones. ``rings`` has them as they were sent, without their JSON.
    ``country`` is that of ``country_of``: False if it is unknown.
    """

    type: str
    text: str
    area_m2: int
    bounds: Bounds
    positions: int
    rings: Rings = field(repr=False, compare=False)
    country: Country = field(compare=False)


def read_boundary(
    value: object,
    *,
    max_positions: int = GEOMETRY_POSITIONS,
    expensive: Slot = nullcontext,
    locate: bool = True,
    max_faults: int = MAX_PROBLEMS,
) -> Boundary:
    """Check, measure and locate a parsed GeoJSON Polygon or MultiPolygon (RFC 7946).

    The winding is corrected: a ring may be reversed, and keeps its start. So are longitudes that
    are beyond 180 or -180 by a rounding error. ``value`` is not changed. Raises GeometryInvalid
    with every problem in the structure; if there is none, in edges that span half the globe; if
    there is none, in planar validity.

    Args:
        expensive: a context that is entered for work that takes long, so that the caller can admit
            or refuse it: at most VALIDATION_SECONDS and COUNTRIES_SECONDS in another process.
        locate: find the country that it lies in.
        max_faults: places to find where it is not valid in the plane.
    """
    kind, coordinates, problems = read_members(value, ("Polygon", "MultiPolygon"), "geometry")
    multi = kind == "MultiPolygon"
    rings = read_rings(coordinates, multi=multi, max_positions=max_positions)
    if rings is None and (clamped := within_range(coordinates)) is not None:
        coordinates = clamped
        rings = read_rings(coordinates, multi=multi, max_positions=max_positions)
    if rings is None:
        errors = structure_problems(kind, coordinates, max_positions)
        raise GeometryInvalid(chain(problems, errors))
    is_cheap = is_cheap_to_validate(rings)
    with nullcontext() if is_cheap else expensive():
        polygons = build_polygons(rings)
        shape_problems = _shape_problems(rings, polygons, is_cheap, expensive, max_faults)
        raise_if_any(chain(problems, shape_problems))
        bounds = boundary_bounds(rings)
        return Boundary(
            type=kind,
            text=_geojson_text(kind, coordinates, rings, wrongly_wound(rings, polygons)),
            area_m2=_area_m2(rings),
            bounds=bounds,
            positions=len(rings.lon),
            rings=replace(rings, json=b""),
            country=country_of(rings, bounds, expensive) if locate else False,
        )


def measured_boundary(text: str, area_m2: int | None = None) -> Boundary:
    """The boundary of a stored ``text``: measured and located, but not checked again.

    Args:
        area_m2: its area, if it is known: to measure that takes longer than all else.
    """
    rings = stored_rings(text)
    bounds = boundary_bounds(rings)
    return Boundary(
        type="MultiPolygon" if rings.multi else "Polygon",
        text=text,
        area_m2=_area_m2(rings) if area_m2 is None else area_m2,
        bounds=bounds,
        positions=len(rings.lon),
        rings=rings,
        country=country_of(rings, bounds),
    )


def _area_m2(rings: Rings) -> int:
    # Holes whose geodesic edges run outside the exterior's could make it negative.
    return max(0, round(boundary_area(rings)))


def _too_complex(reason: str) -> Problem:
    message = (
        f"{reason}: too many of its edges or rings cross each other. Simplify the boundary, or "
        "split it into several projects."
    )
    return Place().problem("too_complex", message)


def _validate_timed(polygons: Any, _: float) -> tuple[bool, float]:
    """True if a geometry is valid, and the processor seconds that checking it took."""
    began = thread_time()
    return bool(shapely.is_valid(polygons)), thread_time() - began


def _shape_problems(
    rings: Rings, polygons: Any, is_cheap: bool, expensive: Slot, max_faults: int
) -> Iterator[Problem]:
    """Yield the problems of a boundary with a valid structure; each rule assumes those before.

    Validity is that of OGC Simple Features 1.2.1, section 6.1.11, in the plane of longitude and
    latitude, for all parts and rings at once.
    """
    is_wide = np.ptp(rings.lon) >= 180
    ambiguous = list(islice(edge_problems(rings), MAX_PROBLEMS)) if is_wide else []
    if ambiguous:
        yield from ambiguous
        return
    validate = _validate_timed if is_cheap else timed.is_valid
    is_valid, seconds = validate(polygons, VALIDATION_SECONDS)
    if is_valid is None:
        yield _too_complex("is too complex to validate")
    elif not is_valid:
        yield from _locate_faults(rings, polygons, seconds, is_cheap, expensive, max_faults)
    elif is_wide:
        yield from _oversize_problems(rings)


def _locate_faults(
    rings: Rings,
    polygons: Any,
    seconds: float,
    is_cheap: bool,
    expensive: Slot,
    max_faults: int,
) -> Iterator[Problem]:
    """Yield the faults; only that there is one, if locating them takes too long.

    Args:
        seconds: the processor time of the validation.
    """
    constant, per_position = LOCATED_HERE
    is_quick = is_cheap and seconds <= constant + per_position * len(rings.lon)
    is_large = len(rings.lon) > SMALL
    limit = None if is_quick else FIRST_FAULT_SECONDS
    with expensive() if is_large else nullcontext():
        faults = fault_problems(rings, polygons, SEARCH_SECONDS[is_large], limit)
        problems = list(islice(faults, max_faults))
    yield from problems or [_too_complex("is not valid, and too complex to find out where")]


def _oversize_problems(rings: Rings) -> Iterator[Problem]:
    """Yield a problem for each part whose area would be the rest of the Earth's."""
    for ring in rings.exteriors:
        span = rings.span(ring)
        if covers_over_half_earth(rings.lon[span], rings.lat[span]):
            message = "covers more than half of the Earth. Send a smaller boundary, or split it."
            yield rings.place(ring).problem("too_large", message)


def _geojson_text(kind: str, coordinates: Any, rings: Rings, reverse: Booleans) -> str:
    """Return the GeoJSON text. ``reverse`` says which rings to reverse, counted over all parts."""
    json = rings.json
    if reverse.any():
        flags = iter(reverse.tolist())
        parts = coordinates if rings.multi else [coordinates]
        wound = [[ring[::-1] if next(flags) else ring for ring in part] for part in parts]
        json = orjson.dumps(wound if rings.multi else wound[0])
    return f'{{"type":"{kind}","coordinates":{json.decode()}}}'
