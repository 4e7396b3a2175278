"""An asset's location: a GeoJSON Point."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from app.geometry.members import read_members
from app.geometry.problems import Place, raise_if_any
from app.geometry.structure import position_problems, within_range


@dataclass(frozen=True, slots=True)
class Point:
    """A valid location. ``text`` is the GeoJSON to store and send, with the numbers as sent."""

    text: str
    longitude: float
    latitude: float


def read_point(value: object) -> Point:
    """Check a parsed GeoJSON Point, in degrees on WGS84 (RFC 7946 section 3.1.2).

    A longitude or latitude that is out of range by a rounding error is corrected. Raises
    GeometryInvalid with every problem, its field ``location`` or below.
    """
    kind, position, problems = read_members(value, ("Point",), "location")
    if isinstance(position, list) and position and isinstance(position[0], list):
        message = "is an array of arrays; it must be one position [longitude, latitude]."
        others = iter([Place().problem("wrong_nesting", message, field="location")])
    else:
        position = within_range(position) or position
        others = position_problems(position, Place(), "location")
    raise_if_any(chain(problems, others))
    valid: Any = position
    text = orjson.dumps({"type": kind, "coordinates": valid}).decode()
    return Point(text, float(valid[0]), float(valid[1]))
