"""The problems that a geometry can have, with their places and messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

MAX_PROBLEMS = 100
"""At most this many problems are reported at once."""

PROBLEM_CODES: dict[str, str] = {
    "not_an_object": "The value is not a GeoJSON object.",
    "missing_member": "`type` or `coordinates` is missing.",
    "unknown_member": "A member that a GeoJSON geometry does not have.",
    "wrong_type": "`type` is not one of the accepted geometry types.",
    "wrong_crs": "`crs` names a coordinate system other than CRS84 or EPSG:4326.",
    "not_an_array": "`coordinates`, a part, a ring or a position is not an array.",
    "wrong_nesting": "`coordinates` is nested as in another geometry type.",
    "empty": "`coordinates`, a part or a ring is empty.",
    "too_many_positions": "More positions in total than a boundary may have.",
    "too_few_positions": "A ring of fewer than four positions.",
    "wrong_position": "A position without exactly two or three numbers.",
    "not_a_number": "An ordinate that is not a finite number.",
    "out_of_range": "A longitude beyond ±180, a latitude beyond ±90, or an impossible height.",
    "not_closed": "A ring whose last position differs from its first.",
    "antimeridian": "An edge that spans more than 180° of longitude, so it crosses ±180.",
    "ambiguous_edge": "An edge that spans exactly 180° of longitude away from the poles.",
    "zero_area": "A ring whose positions all lie on one point or one line.",
    "self_intersection": "A ring that crosses or touches itself.",
    "hole_outside": "A hole that is not inside its exterior ring.",
    "holes_overlap": "Two holes of a part that overlap, nest, or share an edge.",
    "interior_disconnected": "Holes that touch other rings and so cut their part into pieces.",
    "parts_overlap": "Two parts that overlap, nest, or share an edge.",
    "too_complex": "So many edges or rings cross each other that checking would take too long.",
    "too_large": "A part that covers more than half of the Earth.",
    "unreadable": "A geometry in a file from which nothing can be read.",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a geometry.

    ``part``, ``ring`` and ``position`` count from 0 and are None where they make no sense; ``part``
    is None for a Polygon. For a fault of an edge, ``position`` is the one that the edge starts at.
    ``coordinates`` is [longitude, latitude] of the fault in degrees, where it has one place.
    ``field`` is a dotted path that never goes deeper than ``….coordinates``.
    """

    code: str
    message: str
    part: int | None
    ring: int | None
    position: int | None
    coordinates: list[float] | None
    field: str


class GeometryInvalid(ValueError):
    """A geometry is invalid. ``problems`` has at least one and at most MAX_PROBLEMS of them.

    They come from an iterator, so that the search ends with the last one that is reported.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(islice(problems, MAX_PROBLEMS))
        super().__init__(" ".join(problem.message for problem in self.problems))


def raise_if_any(problems: Iterable[Problem]) -> None:
    """Raise GeometryInvalid when there is any problem."""
    error = GeometryInvalid(problems)
    try:
        if error.problems:
            raise error
    finally:
        del error  # it refers to this frame: a cycle, which would keep the geometry in memory


@dataclass(frozen=True, slots=True)
class Place:
    """A place in ``coordinates``: indices from 0, None for "not that deep"."""

    part: int | None = None
    ring: int | None = None
    position: int | None = None

    def __str__(self) -> str:
        """The place for a message, as in "Part 1, ring 0, position 3"."""
        indices = (("part", self.part), ("ring", self.ring), ("position", self.position))
        text = ", ".join(f"{name} {index}" for name, index in indices if index is not None)
        return text[:1].upper() + text[1:] if text else "`coordinates`"

    def at(self, position: int) -> Place:
        """Return the place of a position of this ring."""
        return Place(self.part, self.ring, position)

    def problem(
        self,
        code: str,
        message: str,
        coordinates: list[float] | None = None,
        field: str = "geometry",
    ) -> Problem:
        """Return a problem at this place; the message continues the name of the place, with a
        verb or a colon."""
        gap = "" if message.startswith(":") else " "
        return Problem(
            code=code,
            message=f"{self}{gap}{message}",
            part=self.part,
            ring=self.ring,
            position=self.position,
            coordinates=coordinates,
            field=f"{field}.coordinates",
        )


def whole_problem(code: str, message: str, field: str) -> Problem:
    """Return a problem of the object itself or of one of its members, which has no place."""
    return Problem(code, message, None, None, None, None, field)


def describe_json_value(value: object) -> str:
    """A short description of a JSON value of any size, for a message."""
    if isinstance(value, str):
        return f'"{value[:40]}…"' if len(value) > 40 else f'"{value}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        # Python does not convert integers of thousands of digits to text.
        is_huge = not -1e300 < value < 1e300
        return "a number that is too large or not finite" if is_huge else f"{float(value):.10g}"
    names: dict[type, str] = {dict: "an object", list: "an array"}
    return names.get(type(value), "something that is not JSON")
