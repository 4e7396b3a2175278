"""Points, lines and areas as ODK and Kobo write them: latitude, longitude, altitude and accuracy of
each position, which semicolons separate."""

from __future__ import annotations

import re
from typing import Final

from app.formats.positions import Json, unreadable_geometry
from app.formats.readers.layer_limits import quoted
from app.formats.readers.ordinates import read_number, too_many_positions
from app.formats.readers.wkb import ReadGeometry
from app.geometry.problems import GeometryInvalid
from app.policy.request_limits import GEOMETRY_POSITIONS

_NUMBER: Final = r"[+-]?[0-9]{1,3}(?:\.[0-9]{1,20})?"
_PLACE: Final = rf"\A\s*+{_NUMBER} ++{_NUMBER}"
_WALK: Final = re.compile(rf"{_PLACE}(?: ++[+-]?[0-9]++(?:\.[0-9]++)?){{0,2}}\s*+;")
_POINT: Final = re.compile(rf"{_PLACE} ++[0-9.+-]++ ++[0-9.+-]++\s*+")


def is_survey(text: str) -> bool:
    """True if the beginning of a text looks like such a geometry. A point of whole numbers is
    rather a number of a telephone."""
    if not (_WALK.match(text) or _POINT.fullmatch(text)):
        return False
    latitude, longitude = text.replace(";", " ").split()[:2]
    is_measured = ";" in text or "." in latitude + longitude
    return is_measured and abs(float(latitude)) <= 90 and abs(float(longitude)) <= 180


def read_survey(text: str) -> ReadGeometry:
    """The geometry of a text. A line that ends where it begins is an area.

    Raises:
        GeometryInvalid: a position cannot be read, or there are too many.
    """
    if text.count(";") > GEOMETRY_POSITIONS:
        raise too_many_positions()
    points = [words for point in text.split(";") if (words := point.split())]
    positions = [_position(words) for words in points]
    geometry: Json | None = {"type": "LineString", "coordinates": positions}
    if len(positions) < 2:
        geometry = {"type": "Point", "coordinates": positions[0]} if positions else None
    elif len(positions) > 3 and positions[0] == positions[-1]:
        geometry = {"type": "Polygon", "coordinates": [positions]}
    is_flat = all(len(words) < 3 for words in points)
    return ReadGeometry(geometry, 4326, len(positions), is_flat)


def _position(words: list[str]) -> list[float]:
    latitude, longitude = (*map(read_number, words), None)[:2]
    if latitude is None or longitude is None or len(words) > 4:
        message = f"{quoted(' '.join(words))} is not a latitude and a longitude."
        raise GeometryInvalid([unreadable_geometry(message, "wrong_position")])
    return [longitude, latitude]
