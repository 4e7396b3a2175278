"""An asset's location: a GeoJSON Point."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from app.geometry.members import read_members
from app.geometry.problems import Place, refuse
from app.geometry.structure import position_problems


@dataclass(frozen=True, slots=True)
class Point:
    """A place. ``text`` is the GeoJSON to store and send, with the numbers as they were sent."""

    text: str
    longitude: float
    latitude: float


def read_point(value: object) -> Point:
    """Check a parsed GeoJSON Point, in degrees on WGS84 (RFC 7946 section 3.1.2).

    Raises GeometryInvalid with every problem, its field ``location`` or below.
    """
    kind, position, problems = read_members(value, ("Point",), "location")
    refuse(chain(problems, position_problems(position, Place(), "location")))
    sound: Any = position
    text = orjson.dumps({"type": kind, "coordinates": sound}).decode()
    return Point(text, float(sound[0]), float(sound[1]))
