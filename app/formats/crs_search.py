"""Finding projected coordinate systems by name or country, and by where they put a position."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from pyproj import Proj
from pyproj.aoi import AreaOfInterest, AreaOfUse
from pyproj.database import CRSInfo, query_crs_info
from pyproj.enums import PJType
from pyproj.exceptions import ProjError

Position = tuple[float, float]
Box = tuple[float, float, float, float]

_MARGIN: Final = 0.5  # degrees around the area of a system in which it is still used
_NEAR: Final = 5.0  # degrees from known places
_SAME: Final = 0.01  # degrees between systems that say the same, such as two datums
_STEPS: Final = 4  # along each edge of a box, which may be an arc elsewhere
_TRIED: Final = 200  # systems of a search; each takes some 0.15 ms
_DIGITS: Final = 5  # of degrees on a map
_LARGEST: Final = 60.0  # degrees; systems for half a continent or more are for maps, not surveys
_OF_TODAY: Final = ("ETRS89", "WGS 84", "SIRGAS 2000", "GDA2020", "NAD83")
_STROKES: Final = str.maketrans({"ł": "l", "đ": "d", "ø": "o", "ı": "i", "ß": "ss", "æ": "ae"})


class System(NamedTuple):
    """A projected coordinate system. ``area`` says where it is used, in words."""

    code: str  # such as "EPSG:25832"
    name: str
    area: str


def find_systems(
    text: str,
    near: Sequence[Position],
    most: int,
    position: Position | None = None,
    country_of: Callable[[Position], str] = lambda _: "",
) -> list[System]:
    """The systems whose code, name or area has all words of a text, ignoring case and accents; the
    first are those that put a position into a country that the text names, then those that put it
    into their own area, then those that are used at known places.

    Args:
        near: longitudes and latitudes, such as those of an account's projects.
        position: x and y, as a file has them.
        country_of: the name of the country of a longitude and latitude.
    """

    def distrust(place: Position | None) -> int:
        if place is None:
            return 2
        return 0 if set(_folded(country_of(place)).split()) & set(words) else 1

    words = _folded(text).split()
    if not words:
        return []
    found = [
        (not any(_is_within(place, use.bounds) for place in near), _unlikeliness(info), info, use)
        for info, use in _projected(None)
        if _has_words(_folded(f"EPSG:{info.code} {info.name} {use.name}"), words)
    ]
    likely = sorted(found)[:_TRIED]
    if position is not None:
        likely.sort(key=lambda each: distrust(_place(each[2], each[3], position)))
    return [_system(info, use) for _, _, info, use in likely[:most]]


def nearest_systems(position: Position, near: Sequence[Position], most: int) -> list[System]:
    """The systems that put a position near known places, the nearest first, one of those that say
    the same.

    Args:
        position: x and y.
        near: longitudes and latitudes.
    """
    if not near:
        return []
    west, east = (pick(place[0] for place in near) for pick in (min, max))
    south, north = (pick(place[1] for place in near) for pick in (min, max))
    placed = []
    for info, use in _projected(AreaOfInterest(west, south, east, north)):
        if place := _place(info, use, position):
            distance = round(min(_apart(place, each) for each in near), 2)
            if distance <= _NEAR:
                placed.append((distance, _unlikeliness(info), place, _system(info, use)))
    kept: list[tuple[Position, System]] = []
    for _, _, place, system in sorted(placed):
        if all(_apart(place, other) > _SAME for other, _ in kept):
            kept.append((place, system))
    return [system for _, system in kept[:most]]


def bounds_in_degrees(code: str, box: Box) -> Box | None:
    """West, south, east and north of a box of a coordinate system, for a map: without a change of
    datum. West is greater than east where it crosses 180 degrees. None: it has none."""
    west, south, east, north = box
    steps = [step / _STEPS for step in range(_STEPS + 1)]
    xs = [west + (east - west) * step for step in steps]
    ys = [south + (north - south) * step for step in steps]
    edges = [(x, y) for x in xs for y in (south, north)]
    edges += [(x, y) for x in (west, east) for y in ys]
    try:
        longitudes, latitudes = Proj(code)(
            [x for x, _ in edges], [y for _, y in edges], inverse=True, errcheck=True
        )
    except ProjError:
        return None
    first = longitudes[0]
    apart = [(each - first + 180) % 360 - 180 for each in longitudes]
    west, east = (round(_within_180(first + pick(apart)), _DIGITS) for pick in (min, max))
    return west, round(min(latitudes), _DIGITS), east, round(max(latitudes), _DIGITS)


def _within_180(longitude: float) -> float:
    return (longitude + 180) % 360 - 180


def _projected(area: AreaOfInterest | None) -> Iterator[tuple[CRSInfo, AreaOfUse]]:
    for info in query_crs_info("EPSG", PJType.PROJECTED_CRS, area_of_interest=area):
        use = info.area_of_use
        if use is not None and (use.east - use.west) % 360 <= _LARGEST:
            yield info, use


def _system(info: CRSInfo, use: AreaOfUse) -> System:
    return System(f"EPSG:{info.code}", str(info.name), str(use.name))


def _place(info: CRSInfo, use: AreaOfUse, position: Position) -> Position | None:
    """Where a system puts a position, without a change of datum; None: outside its area."""
    try:
        longitude, latitude = Proj(f"EPSG:{info.code}")(*position, inverse=True, errcheck=True)
    except ProjError:
        return None
    place = (longitude, latitude)
    return place if _is_within(place, use.bounds) else None


def _is_within(place: Position, bounds: tuple[float, float, float, float]) -> bool:
    longitude, latitude = place
    west, south, east, north = bounds
    width = (east - west) % 360 + 2 * _MARGIN
    is_between = (longitude - west + _MARGIN) % 360 <= width
    return is_between and south - _MARGIN <= latitude <= north + _MARGIN


def _apart(one: Position, other: Position) -> float:
    """Degrees between two places."""
    east = abs(one[0] - other[0]) % 360
    return math.hypot(min(east, 360 - east) * math.cos(math.radians(one[1])), one[1] - other[1])


def _unlikeliness(info: CRSInfo) -> tuple[bool, bool, int]:
    """Lower for a system with a datum of today, and without what sets it apart in parentheses, such
    as another order of its axes, of those that say the same."""
    is_old = info.name.partition(" / ")[0] not in _OF_TODAY
    return is_old, " (" in info.name or "zN" in info.name, int(info.code)


def _has_words(text: str, words: Sequence[str]) -> bool:
    joined = text.replace(" ", "")
    return all(word in text or word in joined for word in words)


def _folded(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold()).translate(_STROKES)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
