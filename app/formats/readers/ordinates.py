"""Longitudes and latitudes from text."""

from __future__ import annotations

from math import isfinite

from app.formats.positions import unreadable_geometry
from app.formats.readers.layer_limits import quoted
from app.geometry.problems import GeometryInvalid, Place
from app.policy.request_limits import GEOMETRY_POSITIONS

Position = list[float]
"""Longitude and latitude, or x and y."""


def too_many_positions() -> GeometryInvalid:
    """The error for a geometry with more positions than any boundary may have."""
    message = (
        f"The geometry has more than {GEOMETRY_POSITIONS:,} positions, which is what a boundary "
        "may have. Simplify it."
    )
    return GeometryInvalid([unreadable_geometry(message, "too_many_positions")])


def read_position(
    longitude: str | None, latitude: str | None, line: Place, index: int | None = None
) -> Position:
    """Read a position; None stands for a missing number.

    Args:
        line: the place of the line or ring in which it has the ``index``, or its own.

    Raises:
        GeometryInvalid: one of the two is not a finite number.
    """
    position = []
    for name, text in (("longitude", longitude), ("latitude", latitude)):
        number = None if text is None else read_number(text)
        if number is None:
            place = line if index is None else line.at(index)
            if text is None:
                raise GeometryInvalid([place.problem("wrong_position", f"has no {name}.")])
            message = f"has a {name} that is not a number: {quoted(text)}."
            raise GeometryInvalid([place.problem("not_a_number", message)])
        position.append(number)
    return position


def read_number(text: str) -> float | None:
    """The number in a text, or None if it is none or not finite."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) and "_" not in text else None
