"""Where the structure of GeoJSON coordinates is at fault (RFC 7946 sections 3.1.1 and 3.1.6).

Slow, position by position: this only looks at what ``rings`` did not take.
"""

from __future__ import annotations

from collections.abc import Iterator

from app.geometry.problems import Place, Problem, described

MIN_POSITIONS = 4
"""A ring's first and last position are the same, so this is a triangle."""

MAX_HEIGHT = 1e18
"""The third ordinate is kept and not used; past this it could not be stored as a JSON integer."""

_SHAPES = {
    "Polygon": (3, "an array of rings, each an array of positions"),
    "MultiPolygon": (4, "an array of parts, each an array of rings, each an array of positions"),
}


def structure_problems(kind: str, coordinates: object, max_positions: int) -> Iterator[Problem]:
    """Yield every structural fault of the coordinates of a Polygon or MultiPolygon (``kind``).

    Coordinates that are nested like another type's, and those with too many positions, are told of
    as one fault: what else there is would follow from it, or take long to find.
    """
    top = Place()
    if not isinstance(coordinates, list):
        yield top.problem("not_an_array", f"must be an array, not {described(coordinates)}.")
        return
    if not coordinates:
        yield top.problem("empty", f"is empty. A {kind} has {_SHAPES[kind][1]}.")
        return
    parts = coordinates if kind == "MultiPolygon" else [coordinates]
    count = _count(parts)
    if count > max_positions:
        told = f"has {count} positions; a boundary may have {max_positions}. Simplify it."
        yield top.problem("too_many_positions", told)
        return
    depths = {1 + _depth(inner) for inner in coordinates}
    if len(depths) == 1 and depths.isdisjoint({0, _SHAPES[kind][0]}):
        told = f"is nested {depths.pop()} deep. A {kind} is {_SHAPES[kind][0]} deep"
        yield top.problem("wrong_nesting", f"{told}: {_SHAPES[kind][1]}.")
        return
    for index, part in enumerate(parts):
        yield from _part_problems(part, index if kind == "MultiPolygon" else None)


def _count(parts: list[object]) -> int:
    """Count the positions of what may be rings."""
    lists = [part for part in parts if isinstance(part, list)]
    return sum(len(ring) for part in lists for ring in part if isinstance(ring, list))


def _depth(value: object) -> int:
    """Count the arrays around the first number, or return -1 when there is none."""
    depth = 0
    while isinstance(value, list) and value:
        value, depth = value[0], depth + 1
    return depth if type(value) in (int, float) else -1


def _part_problems(part: object, index: int | None) -> Iterator[Problem]:
    """Yield the faults of one part: an exterior ring and its holes."""
    if not isinstance(part, list):
        told = f"must be an array of rings, not {described(part)}."
        yield Place(index).problem("not_an_array", told)
    elif not part:
        yield Place(index).problem("empty", "has no rings. Leave the part out.")
    else:
        for number, ring in enumerate(part):
            yield from _ring_problems(ring, Place(index, number))


def _ring_problems(ring: object, place: Place) -> Iterator[Problem]:
    """Yield the faults of one ring."""
    if not isinstance(ring, list):
        told = f"must be an array of positions, not {described(ring)}."
        yield place.problem("not_an_array", told)
    elif not ring:
        yield place.problem("empty", "has no positions. Leave the ring out.")
    else:
        sound = True
        for index, position in enumerate(ring):
            for problem in position_problems(position, place.at(index)):
                sound = False
                yield problem
        if len(ring) < MIN_POSITIONS:
            told = f"has {len(ring)} positions; a ring has at least {MIN_POSITIONS}"
            yield place.problem("too_few_positions", f"{told}, the first repeated as the last.")
        elif sound and ring[0] != ring[-1]:
            yield _not_closed(ring, place.at(len(ring) - 1))


def _not_closed(ring: list[list[float]], last: Place) -> Problem:
    """Make the problem of a ring that does not end where it starts."""
    told = "differs from the first position. Close the ring: repeat the first position as the last."
    if ring[0][:2] == ring[-1][:2]:
        told = "differs from the first position in its third number. Repeat the first exactly."
    return last.problem("not_closed", told, _lon_lat(ring[-1]))


def position_problems(position: object, place: Place, field: str = "geometry") -> Iterator[Problem]:
    """Yield the faults of one position: two or three finite numbers, in range."""
    if not isinstance(position, list):
        told = f"must be an array [longitude, latitude], not {described(position)}."
        yield place.problem("not_an_array", told, field=field)
    elif len(position) not in (2, 3):
        told = f"has {len(position)} elements; it must have two numbers [longitude, latitude]"
        yield place.problem("wrong_position", f"{told}, or three.", field=field)
    elif strange := [one for one in position if not _is_finite(one)]:
        told = f"must hold finite numbers only, not {described(strange[0])}."
        yield place.problem("not_a_number", told, field=field)
    elif told := _range_fault(*position):
        yield place.problem("out_of_range", told, _lon_lat(position), field)


def _is_finite(ordinate: object) -> bool:
    """Tell whether it is a JSON number; true and false are not, though Python's are integers."""
    if type(ordinate) is float:
        return ordinate - ordinate == 0
    return type(ordinate) is int


def _range_fault(lon: float, lat: float, height: float = 0) -> str:
    """Say what is out of its range, or return the empty text."""
    swapped = abs(lon) <= 90 < abs(lat) <= 180
    faults = [
        abs(lon) > 180 and f"longitude {described(lon)} is not within -180 to 180",
        abs(lat) > 90 and f"latitude {described(lat)} is not within -90 to 90",
        abs(height) > MAX_HEIGHT and f"the third number {described(height)} is too large",
    ]
    told = ", ".join(fault for fault in faults if fault)
    if told and swapped:
        return f"is out of range: {told}. GeoJSON has the longitude first: the two look swapped."
    return f"is out of range: {told}. Send degrees on WGS84." if told else ""


def _lon_lat(position: list[float]) -> list[float] | None:
    """Return the place of a position in degrees, if a float can hold it."""
    lon, lat = position[:2]
    return [float(lon), float(lat)] if max(abs(lon), abs(lat)) < 1e300 else None
