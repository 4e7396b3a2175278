"""Warnings about valid boundaries: what is odd, and mostly not meant, but never refused.

Sound data has warnings, too: of 252 official districts 17 have a spike. So pages show their number,
in grey.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import chain, islice
from typing import Any, Final

import numpy as np

from app.geometry.boundary import Boundary
from app.geometry.countries import load_world
from app.geometry.countries.location import compare_with_countries, country_of_box
from app.geometry.countries.parts import far_parts, parts_elsewhere
from app.geometry.polygons import build_polygons
from app.geometry.problems import MAX_PROBLEMS, Place, Problem
from app.geometry.rings import Floats, Integers, Rings
from app.geometry.timed import Slot
from app.policy.countries import INSIDE_KM

WARNING_CODES: Final = {
    "spike": "Two edges longer than 10 m meet at an angle of less than 1 degree.",
    "repeated_position": "The same position twice or more in a row.",
    "sliver": "A part that is narrower than 1 m on the average.",
    "in_the_sea": "A part with no land within 25 km, on a map that lacks small islands.",
    "several_countries": "A part, or a hundredth of the area, that lies in another country than "
    "most of the boundary, more than 10 km from it.",
    "countries_not_checked": "A shape so complex that it would take too long to find what lies in "
    "the sea or in another country.",
}

_SPIKE_DEGREES: Final = 1.0
_SPIKE_METERS: Final = 10.0
_SLIVER_METERS: Final = 1.0
_METERS_PER_DEGREE: Final = 111_320.0
_NOT_CHECKED: Final = (
    "is so complex that it would take too long to find what lies in the sea or in another country."
)


def boundary_warnings(boundary: Boundary, *, expensive: Slot = nullcontext) -> list[Problem]:
    """The warnings of a valid boundary, at most MAX_PROBLEMS: the first of each code come first.

    Args:
        boundary: one that ``read_boundary`` returned.
        expensive: as that function takes it.
    """
    rings = boundary.rings
    shape_warnings = (_spike_problems(rings), _repeated_positions(rings), _sliver_problems(rings))
    by_code = [list(islice(warnings, MAX_PROBLEMS)) for warnings in shape_warnings]
    by_code += _country_warnings(boundary, expensive)
    firsts = [warnings[0] for warnings in by_code if warnings]
    others = chain.from_iterable(warnings[1:] for warnings in by_code)
    return [*firsts, *others][:MAX_PROBLEMS]


def indices_by_warning(boundaries: Sequence[Boundary]) -> dict[str, set[int]]:
    """The indices of the boundaries that have a warning, by its code. Quicker than
    ``boundary_warnings`` of each; ``in_the_sea`` is a whole boundary here.

    Args:
        boundaries: those that ``read_boundary`` returned.
    """
    if not boundaries:
        return {}
    rings = _joined_rings([boundary.rings for boundary in boundaries])
    of_part = np.repeat(np.arange(len(boundaries)), [len(b.rings.exteriors) for b in boundaries])
    of_ring = np.repeat(of_part, np.diff(rings.part_starts))
    of_position = np.repeat(of_ring, np.diff(rings.starts))
    indices = {
        "spike": set(of_position[_find_spikes(rings)[0]].tolist()),
        "repeated_position": set(of_position[_is_repeated(rings)].tolist()),
        "sliver": set(of_part[_mean_widths(rings) < _SLIVER_METERS].tolist()),
    }
    if load_world() is not None:
        indices["in_the_sea"] = {n for n, b in enumerate(boundaries) if b.country is None}
        elsewhere = [_has_parts_elsewhere(boundary) for boundary in boundaries]
        indices["several_countries"] = {n for n, has in enumerate(elsewhere) if has}
        indices["countries_not_checked"] = {n for n, has in enumerate(elsewhere) if has is None}
    return indices


def _has_parts_elsewhere(boundary: Boundary) -> bool | None:
    """True if parts lie in another country; None if that takes too long to find out."""
    country = boundary.country
    if not country:
        return None if country is False else False
    if not _may_reach_inside(boundary):
        return False
    answer = compare_with_countries(parts_elsewhere, build_polygons(boundary.rings), country)
    return None if answer is None else bool(answer[0])


def _may_reach_inside(boundary: Boundary) -> bool:
    """False if it lies in one country, or is so small that no part can be far inside another."""
    west, south, east, north = boundary.bounds
    size = max(north - south, (east - west) * math.cos(math.radians((north + south) / 2)))
    is_large = size * _METERS_PER_DEGREE > INSIDE_KM * 1000 / math.sqrt(2)
    return is_large and country_of_box(boundary.bounds) is False


def _joined_rings(boundaries: Sequence[Rings]) -> Rings:
    """The rings of several boundaries as if they were one."""
    starts, part_starts = [0], [0]
    for rings in boundaries:
        positions, count = starts[-1], part_starts[-1]
        starts += [positions + start for start in rings.starts[1:]]
        part_starts += [count + start for start in rings.part_starts[1:]]
    lon = np.concatenate([rings.lon for rings in boundaries])
    lat = np.concatenate([rings.lat for rings in boundaries])
    return Rings(lon, lat, starts, part_starts, True, b"")


def _spike_problems(rings: Rings) -> Iterator[Problem]:
    indices, angles = _find_spikes(rings)
    for index, angle in zip(indices.tolist(), angles.tolist(), strict=True):
        message = f": a spike. The edges that meet here are {angle:.2g} degrees apart."
        yield _warning_at(rings, index, "spike", message)


def _find_spikes(rings: Rings) -> tuple[Integers, Floats]:
    """The indices of the positions of spikes, and their angles in degrees, measured with degrees of
    longitude as long as they are at that latitude."""
    distinct = np.flatnonzero(~_is_repeated(rings))  # a repeated position has no sides
    lon, lat, ring = rings.lon[distinct], rings.lat[distinct], rings.of_position[distinct]
    starts = np.flatnonzero(np.diff(ring, prepend=-1))
    ends = np.append(starts[1:], len(ring)) - 1
    before = np.arange(len(ring)) - 1
    before[starts] = ends - 1  # the last position is the first one again
    after = np.arange(len(ring)) + 1
    after[ends] = starts + 1
    scale = np.cos(np.radians(lat))
    in_x, in_y = (lon[before] - lon) * scale, lat[before] - lat
    out_x, out_y = (lon[after] - lon) * scale, lat[after] - lat
    shorter = np.minimum(np.hypot(in_x, in_y), np.hypot(out_x, out_y)) * _METERS_PER_DEGREE
    angle = np.abs(np.arctan2(in_x * out_y - in_y * out_x, in_x * out_x + in_y * out_y))
    is_spike = (shorter > _SPIKE_METERS) & (angle < np.radians(_SPIKE_DEGREES))
    is_spike[ends] = False
    return distinct[is_spike], np.degrees(angle[is_spike])


def _repeated_positions(rings: Rings) -> Iterator[Problem]:
    """Yield a warning for each run of equal positions."""
    repeated = _is_repeated(rings)
    begins = np.flatnonzero(repeated & ~np.append(False, repeated[:-1]))
    after = np.append(np.flatnonzero(~repeated), len(repeated))
    counts = after[np.searchsorted(after, begins)] - begins + 1
    for begin, count in zip(begins.tolist(), counts.tolist(), strict=True):
        times = "twice" if count == 2 else f"{count} times"
        message = f": the same position {times} in a row."
        yield _warning_at(rings, begin, "repeated_position", message)


def _sliver_problems(rings: Rings) -> Iterator[Problem]:
    width = _mean_widths(rings)
    for part in np.flatnonzero(width < _SLIVER_METERS).tolist():
        subject = "this part" if rings.multi else "the boundary"
        message = f": {subject} is a sliver, {max(width[part], 0):.2g} m wide on the average."
        yield _part_warning(rings, part, "sliver", message)


def _mean_widths(rings: Rings) -> Floats:
    """The mean width of each part in m: its area by half its perimeter, as for something long."""
    areas, lengths = _ring_measures(rings)
    firsts = rings.exteriors
    outer = areas[firsts]
    area = 2 * outer - np.add.reduceat(areas, firsts)
    perimeter = np.add.reduceat(lengths, firsts)
    widths: Floats = 2 * area / np.maximum(perimeter, 1e-9)
    return widths


def _ring_measures(rings: Rings) -> tuple[Floats, Floats]:
    """The areas of all rings in m², and their lengths in m, precise enough for slivers."""
    starts = np.array(rings.starts)
    counts, firsts = np.diff(starts), starts[:-1]
    middle = np.add.reduceat(rings.lat, firsts) / counts
    scale = np.repeat(np.cos(np.radians(middle)), counts)
    x = (rings.lon - np.repeat(rings.lon[firsts], counts)) * scale * _METERS_PER_DEGREE
    y = (rings.lat - np.repeat(rings.lat[firsts], counts)) * _METERS_PER_DEGREE
    doubled, steps = np.zeros(len(x)), np.zeros(len(x))
    doubled[:-1] = x[:-1] * y[1:] - x[1:] * y[:-1]
    steps[:-1] = np.hypot(np.diff(x), np.diff(y))
    lasts = starts[1:] - 1  # from there, an edge would go to the next ring
    doubled[lasts] = steps[lasts] = 0
    return np.abs(np.add.reduceat(doubled, firsts)) / 2, np.add.reduceat(steps, firsts)


def _country_warnings(boundary: Boundary, expensive: Slot) -> tuple[list[Problem], ...]:
    """The warnings that need the countries, in a list for each code."""
    if load_world() is None or country_of_box(boundary.bounds) is not False:
        return ()
    rings, country = boundary.rings, boundary.country
    answer = None
    if country is not False:
        polygons = build_polygons(rings)
        answer = compare_with_countries(far_parts, polygons, country, expensive=expensive)
    if answer is None:
        return ([Place().problem("countries_not_checked", _NOT_CHECKED)],)
    in_the_sea, elsewhere = answer[0]
    message = ": there is no land within 25 km, but for islands that a coarse map lacks."
    return (
        [_part_warning(rings, part, "in_the_sea", message) for part in in_the_sea[:MAX_PROBLEMS]],
        [_country_warning(boundary, *part) for part in elsewhere[:MAX_PROBLEMS]],
    )


def _country_warning(boundary: Boundary, part: int, other: str, lon: float, lat: float) -> Problem:
    """The warning about a part that lies in another country, at a position there."""
    message = f": some of it lies in {other}, and most of the boundary in {boundary.country}."
    place = boundary.rings.place(boundary.rings.exteriors[part])
    return place.problem("several_countries", message, [lon, lat])


def _is_repeated(rings: Rings) -> Any:
    """True for each position that equals the one before it in its ring."""
    same = (np.diff(rings.lon) == 0) & (np.diff(rings.lat) == 0)
    same[np.array(rings.starts[1:-1], dtype=np.intp) - 1] = False
    return np.append(False, same)


def _part_warning(rings: Rings, part: int, code: str, message: str) -> Problem:
    start = rings.starts[rings.exteriors[part]]
    coordinates = [float(rings.lon[start]), float(rings.lat[start])]
    return rings.place(rings.exteriors[part]).problem(code, message, coordinates)


def _warning_at(rings: Rings, index: int, code: str, message: str) -> Problem:
    """A warning about a position, whose index counts over all rings."""
    ring = int(np.searchsorted(rings.starts, index, "right")) - 1
    place = rings.place(ring).at(index - rings.starts[ring])
    return place.problem(code, message, [float(rings.lon[index]), float(rings.lat[index])])
