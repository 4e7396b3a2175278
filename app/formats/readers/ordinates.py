"""Longitudes and latitudes that a file has as text."""

from __future__ import annotations

from math import isfinite

from app.formats.readers.bounds import shown
from app.geometry.problems import Place, Problem, whole_problem
from app.policy.bounds import GEOMETRY_POSITIONS

Position = list[float]
"""Longitude and latitude, or x and y."""


class Unreadable(Exception):
    """What a geometry has as its positions cannot be read; ``problem`` says where and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def too_many_positions() -> Unreadable:
    """A geometry has more positions than any boundary may have, so the rest is not read."""
    message = (
        f"The geometry has more than {GEOMETRY_POSITIONS:,} positions, which is what a boundary "
        "may have. Simplify it."
    )
    return Unreadable(whole_problem("too_many_positions", message, "geometry"))


def read_position(longitude: str | None, latitude: str | None, place: Place) -> Position:
    """Read a position; None stands for a number that is missing.

    Raises:
        Unreadable: one of the two is not a finite number.
    """
    position = []
    for name, text in (("longitude", longitude), ("latitude", latitude)):
        if text is None:
            raise Unreadable(place.problem("wrong_position", f"has no {name}."))
        if (number := read_number(text)) is None:
            message = f"has a {name} that is not a number: {shown(text)}."
            raise Unreadable(place.problem("not_a_number", message))
        position.append(number)
    return position


def read_number(text: str) -> float | None:
    """The number that a text is; None: it is none, or not finite."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) and "_" not in text else None
