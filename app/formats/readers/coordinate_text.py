"""Positions as people and field survey programs write them: degrees with minutes and seconds,
latitude and longitude in one cell, and the walked lines and areas of ODK and Kobo."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from app.formats.positions import Json, is_degrees, unreadable_geometry
from app.formats.readers.layer_limits import quoted
from app.formats.readers.ordinates import Position, read_number, too_many_positions
from app.geometry.problems import GeometryInvalid
from app.policy.request_limits import GEOMETRY_POSITIONS

_NUMBER: Final = r"[+-]?[0-9]{1,3}(?:\.[0-9]{1,20})?"
# 47°00'18.5"N, 47 0 18.5 N, N 47° 0.3', 47.005°
_DEGREES: Final = re.compile(
    rf"""\A(?P<before>[NSEWO])?\s*+(?P<degrees>{_NUMBER})\s*+(?:°|º|˚|d\b|deg\b)?\s*+
    (?:(?P<minutes>[0-9]{{1,2}}(?:\.[0-9]{{1,20}})?)\s*+(?:'|′|’|m\b|min\b)?\s*+
    (?:(?P<seconds>[0-9]{{1,2}}(?:\.[0-9]{{1,20}})?)\s*+(?:"|″|”|''|′′|s\b|sec\b)?\s*+)?)?
    (?P<after>[NSEWO])?""",
    re.IGNORECASE | re.VERBOSE,
)
_MARK: Final = re.compile("[°º˚'′’\"″”NSEWO]", re.IGNORECASE)
_SOUTH_OR_WEST: Final = frozenset("SWO")
_AXES: Final = {"N": "latitude", "S": "latitude", "E": "longitude", "W": "longitude"}
_PAIR: Final = re.compile(r"\A[(\[]?+([^,;]++)[,;]([^,;)\]]++)[)\]]?+")
# 47.005 10.005, N47.005 E10.005: without enough decimals, it is perhaps degrees and minutes.
_DECIMALS: Final = r"[NSEWO]?[+-]?[0-9]{1,3}\.[0-9]{3,20}[°º˚]?[NSEWO]?"
_SPACED: Final = re.compile(rf"({_DECIMALS})\s++({_DECIMALS})", re.IGNORECASE)
_DECIMAL_COMMA: Final = re.compile(r"(?<=[0-9]),(?=[0-9])")
_PRECISE: Final = re.compile(r"\.[0-9]{3}")  # 100 m; what is rounded more is perhaps no position
_LONGEST: Final = 100  # characters
# latitude longitude [altitude [accuracy]], separated by semicolons
_PLACE: Final = rf"\A\s*+{_NUMBER} ++{_NUMBER}"
_WALK: Final = re.compile(rf"{_PLACE}(?: ++[+-]?[0-9]++(?:\.[0-9]++)?){{0,2}}\s*+;")
_SURVEYED_POINT: Final = re.compile(rf"{_PLACE} ++[0-9.+-]++ ++[0-9.+-]++\s*+")


class Degrees(NamedTuple):
    """A number of degrees, and "latitude" or "longitude" if a letter says which it is."""

    value: float
    axis: str | None


def read_degrees(text: str) -> Degrees | None:
    """Degrees, perhaps with minutes, seconds, and a letter for the point of the compass; None if
    the text is nothing like that.

    O is west, as in French, Italian, Portuguese and Spanish.
    """
    found = _DEGREES.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None or (found["before"] and found["after"]):
        return None
    letter = (found["before"] or found["after"] or "").upper()
    minutes, seconds = float(found["minutes"] or 0), float(found["seconds"] or 0)
    if minutes >= 60 or seconds >= 60:
        return None
    degrees = float(found["degrees"])
    size = abs(degrees) + minutes / 60 + seconds / 3600
    is_negative = found["degrees"].startswith("-") or letter in _SOUTH_OR_WEST
    return Degrees(-size if is_negative else size, _AXES.get("W" if letter == "O" else letter))


def read_pair(text: str) -> Position | None:
    """Longitude and latitude of a text such as "47.005, 10.005", where the latitude comes first
    unless letters say otherwise; None if it is none."""
    found = _pair(text)
    if found is None:
        return None
    first, second = read_degrees(found[1]), read_degrees(found[2])
    if first is None or second is None or (first.axis and first.axis == second.axis):
        return None
    if first.axis == "longitude" or second.axis == "latitude":
        first, second = second, first
    latitude, longitude = first.value, second.value
    return [longitude, latitude] if is_degrees((longitude, latitude)) else None


def is_precise_pair(text: str) -> bool:
    """True for a pair of positions that can hardly be anything else."""
    found = _pair(text)
    if found is None or read_pair(text) is None:
        return False
    return all(_PRECISE.search(each) or _MARK.search(each) for each in found.groups())


def _pair(text: str) -> re.Match[str] | None:
    """The two parts of a text, also of one with decimal commas and a semicolon between them."""
    if len(text) > _LONGEST:
        return None
    text = text.strip()
    if text.count(";") == 1:
        text = _DECIMAL_COMMA.sub(".", text)
    return _PAIR.fullmatch(text) or _SPACED.fullmatch(text)


def is_survey(text: str) -> bool:
    """True if the beginning of a text looks like a line, an area or a point of ODK or Kobo."""
    return bool(_WALK.match(text) or _SURVEYED_POINT.fullmatch(text))


def read_survey(text: str) -> tuple[Json | None, int, bool]:
    """The geometry of a text of ODK or Kobo: latitude, longitude, altitude and accuracy of each
    position, which semicolons separate.

    One that ends where it begins is an area.

    Returns:
        the geometry, the number of its positions, and whether it has altitudes.

    Raises:
        GeometryInvalid: a position cannot be read, or there are too many.
    """
    if text.count(";") > GEOMETRY_POSITIONS:
        raise too_many_positions()
    positions: list[Position] = []
    has_altitudes = False
    for point in text.split(";"):
        if not (words := point.split()):
            continue
        numbers = [read_number(word) for word in words]
        latitude, longitude = (*numbers, None, None)[:2]
        if latitude is None or longitude is None or len(words) > 4:
            message = f"{quoted(point.strip())} is not a latitude and a longitude."
            raise GeometryInvalid([unreadable_geometry(message, "wrong_position")])
        has_altitudes = has_altitudes or len(words) > 2
        positions.append([longitude, latitude])
    return _shape(positions), len(positions), has_altitudes


def _shape(positions: list[Position]) -> Json | None:
    if len(positions) < 2:
        return {"type": "Point", "coordinates": positions[0]} if positions else None
    if len(positions) > 3 and positions[0] == positions[-1]:
        return {"type": "Polygon", "coordinates": [positions]}
    return {"type": "LineString", "coordinates": positions}
