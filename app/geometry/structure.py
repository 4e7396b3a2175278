"""Errors in the structure of GeoJSON coordinates (RFC 7946 sections 3.1.1 and 3.1.6).

It is slow, as it checks each position, so it runs only when ``rings`` has found an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import copysign
from typing import Any

from app.geometry.problems import Place, Problem, describe_json_value

MIN_POSITIONS = 4
"""A ring's first and last position are the same, so this is a triangle."""

_DEEPEST = 4  # arrays around a number, in a MultiPolygon
ROUNDING = 1e-9
"""Degrees, a tenth of a millimeter, by which ordinates may be out of range."""

MAX_HEIGHT = 1e18
"""The third ordinate is stored but not used; past this it would not fit into a JSON integer."""

_SHAPES = {
    "Polygon": (3, "an array of rings, each an array of positions"),
    "MultiPolygon": (4, "an array of parts, each an array of rings, each an array of positions"),
}


def structure_problems(kind: str, coordinates: object, max_positions: int) -> Iterator[Problem]:
    """Yield every structural error of the coordinates of a Polygon or MultiPolygon (``kind``).

    Coordinates nested like those of another type, or with too many positions, give only one error:
    the others would follow from it, or take long to find.
    """
    top = Place()
    if not isinstance(coordinates, list):
        yield top.problem(
            "not_an_array", f"must be an array, not {describe_json_value(coordinates)}."
        )
        return
    if not coordinates:
        yield top.problem("empty", f"is empty. A {kind} has {_SHAPES[kind][1]}.")
        return
    if len(coordinates) > max_positions:
        message = (
            f"has {len(coordinates):,} elements; a boundary may have {max_positions:,} positions"
        )
        yield top.problem(
            "too_many_positions", f"{message} in all. A {kind} has {_SHAPES[kind][1]}."
        )
        return
    parts = coordinates if kind == "MultiPolygon" else [coordinates]
    count = _count_positions(parts)
    if count > max_positions:
        message = f"has {count:,} positions; a boundary may have {max_positions:,}. Simplify it."
        yield top.problem("too_many_positions", message)
        return
    depth = 1 + array_depth(coordinates[0])
    if depth not in (0, _SHAPES[kind][0]) and all(
        1 + array_depth(member) == depth for member in coordinates
    ):
        message = f"is nested {depth} deep. A {kind} is {_SHAPES[kind][0]} deep"
        yield top.problem("wrong_nesting", f"{message}: {_SHAPES[kind][1]}.")
        return
    for index, part in enumerate(parts):
        yield from _part_problems(part, index if kind == "MultiPolygon" else None)


def within_range(coordinates: object) -> list[Any] | None:
    """Move positions that are beyond ±180 or ±90 by a rounding error, as clipping leaves them, to
    ±180 or ±90. None if there are no such positions."""
    is_changed = False

    def clamped(value: Any, depth: int = 0) -> Any:
        nonlocal is_changed
        if not isinstance(value, list) or depth > _DEEPEST:
            return value
        if not value or isinstance(value[0], list):
            return [clamped(member, depth + 1) for member in value]
        position = [
            _clamped_ordinate(ordinate, limit)
            for ordinate, limit in zip(value, (180.0, 90.0), strict=False)
        ]
        if position == value[:2]:
            return value
        is_changed = True
        return [*position, *value[2:]]

    result = clamped(coordinates)
    return result if is_changed else None


def _clamped_ordinate(ordinate: Any, limit: float) -> Any:
    """An ordinate, or ±limit where it is beyond that by a rounding error."""
    is_beyond = type(ordinate) is float and limit < abs(ordinate) <= limit + ROUNDING
    return copysign(limit, ordinate) if is_beyond else ordinate


def _count_positions(parts: list[object]) -> int:
    """Count the positions of everything that may be a ring."""
    lists = [part for part in parts if isinstance(part, list)]
    return sum(len(ring) for part in lists for ring in part if isinstance(ring, list))


def array_depth(value: object) -> int:
    """Count the arrays around the first number, or return -1 when there is none."""
    depth = 0
    while isinstance(value, list) and value:
        value, depth = value[0], depth + 1
    return depth if type(value) in (int, float) else -1


def _part_problems(part: object, index: int | None) -> Iterator[Problem]:
    """Yield the errors of one part: an exterior ring and its holes."""
    if not isinstance(part, list):
        message = f"must be an array of rings, not {describe_json_value(part)}."
        yield Place(index).problem("not_an_array", message)
    elif not part:
        yield Place(index).problem("empty", "has no rings. Leave the part out.")
    else:
        for number, ring in enumerate(part):
            yield from _ring_problems(ring, Place(index, number))


def _ring_problems(ring: object, place: Place) -> Iterator[Problem]:
    """Yield the errors of one ring."""
    if not isinstance(ring, list):
        message = f"must be an array of positions, not {describe_json_value(ring)}."
        yield place.problem("not_an_array", message)
    elif not ring:
        yield place.problem("empty", "has no positions. Leave the ring out.")
    else:
        is_valid = True
        for index, position in enumerate(ring):
            for problem in position_problems(position, place.at(index)):
                is_valid = False
                yield problem
        if len(ring) < MIN_POSITIONS:
            message = f"has {len(ring)} positions; a ring has at least {MIN_POSITIONS}"
            yield place.problem("too_few_positions", f"{message}; the last repeats the first.")
        elif is_valid and ring[0] != ring[-1]:
            yield _not_closed(ring, place.at(len(ring) - 1))


def _not_closed(ring: list[list[float]], last: Place) -> Problem:
    """Return the problem of a ring that does not end where it starts."""
    message = (
        "differs from the first position. Close the ring: repeat the first position as the last."
    )
    if ring[0][:2] == ring[-1][:2]:
        message = (
            "differs from the first position in its third number. Repeat the first position "
            "exactly."
        )
    return last.problem("not_closed", message, _lon_lat(ring[-1]))


def position_problems(position: object, place: Place, field: str = "geometry") -> Iterator[Problem]:
    """Yield the errors of one position: it has two or three finite numbers, in range."""
    if not isinstance(position, list):
        message = f"must be an array [longitude, latitude], not {describe_json_value(position)}."
        yield place.problem("not_an_array", message, field=field)
    elif len(position) not in (2, 3):
        message = f"has {len(position)} elements; it must have two numbers [longitude, latitude]"
        yield place.problem("wrong_position", f"{message}, or three.", field=field)
    elif invalid := [ordinate for ordinate in position if not _is_finite(ordinate)]:
        message = f"must hold finite numbers only, not {describe_json_value(invalid[0])}."
        yield place.problem("not_a_number", message, field=field)
    elif message := _range_error(*position):
        yield place.problem("out_of_range", message, _lon_lat(position), field)


def _is_finite(ordinate: object) -> bool:
    """True for a finite JSON number. True and False are none, though they are int in Python."""
    if type(ordinate) is float:
        return ordinate - ordinate == 0
    return type(ordinate) is int


def _range_error(lon: float, lat: float, height: float = 0) -> str:
    """The message for ordinates that are out of range; empty when none is."""
    swapped = abs(lon) <= 90 < abs(lat) <= 180
    is_across = 180 < abs(lon) <= 270 and abs(lat) <= 90
    errors = [
        abs(lon) > 180 and f"longitude {_ordinate_digits(lon)} is not within -180 to 180",
        abs(lat) > 90 and f"latitude {_ordinate_digits(lat)} is not within -90 to 90",
        abs(height) > MAX_HEIGHT and f"the third number {describe_json_value(height)} is too large",
    ]
    message = ", ".join(error for error in errors if error)
    if message and swapped:
        return f"is out of range: {message}. The longitude comes first: the two look swapped."
    if message and is_across:
        same = _ordinate_digits(round(lon - copysign(360, lon), 10))
        return f"is out of range: {message}. It is {same}: split the boundary at 180 degrees."
    return f"is out of range: {message}. Send degrees in WGS84." if message else ""


def _ordinate_digits(ordinate: float) -> str:
    """A number for a message, with enough digits that it is not rounded to 180."""
    is_near = abs(abs(ordinate) - 180) < 1
    return f"{float(ordinate):.13g}" if is_near else describe_json_value(ordinate)


def _lon_lat(position: list[float]) -> list[float] | None:
    """Return the longitude and latitude of a position; None if a float cannot hold them."""
    lon, lat = position[:2]
    return [float(lon), float(lat)] if max(abs(lon), abs(lat)) < 1e300 else None
