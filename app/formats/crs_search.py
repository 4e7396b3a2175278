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

_MARGIN: Final = 0.5  # degrees beyond its area in which a system is still used
_NEAR: Final = 5.0  # degrees from known places
_EQUIVALENT: Final = 0.01  # degrees between systems that differ in their datum only
_STEPS: Final = 4  # along each edge of a box, which may be an arc elsewhere
_CANDIDATES: Final = 200  # each takes some 0.15 ms
_MAP_DECIMALS: Final = 5
_LARGEST: Final = 60.0  # degrees; systems for half a continent or more are for maps, not surveys
_CURRENT_DATUMS: Final = ("ETRS89", "WGS 84", "SIRGAS 2000", "GDA2020", "NAD83")
_STROKES: Final = str.maketrans({"ł": "l", "đ": "d", "ø": "o", "ı": "i", "ß": "ss", "æ": "ae"})


class ProjectedSystem(NamedTuple):
    """A projected coordinate system. ``code``: such as "EPSG:25832"; ``area``: where it is used, in
    words."""

    code: str
    name: str
    area: str


def find_systems(
    text: str,
    near: Sequence[Position],
    most: int,
    position: Position | None = None,
    country_of: Callable[[Position], str] = lambda _: "",
) -> list[ProjectedSystem]:
    """The systems whose code, name or area has all words of a text, ignoring case and accents.

    Those come first that put ``position`` into a country that the text names, then those that put
    it into their area, then those that are used at places ``near``.

    Args:
        near: longitudes and latitudes, such as an account's projects have.
        position: x and y, as a file has them.
        country_of: the name of the country of a longitude and latitude.
    """

    def rank(info: CRSInfo, use: AreaOfUse, position: Position) -> int:
        place = _unprojected_place(info, use, position)
        if place is None:
            return 2
        return 0 if set(_folded_text(country_of(place)).split()) & set(words) else 1

    words = _folded_text(text).split()
    if not words:
        return []
    matches = [
        (not any(_is_within(place, use.bounds) for place in near), _sort_key(info), info, use)
        for info, use in _projected_systems(None)
        if _has_words(_folded_text(f"EPSG:{info.code} {info.name} {use.name}"), words)
    ]
    likely = sorted(matches)[:_CANDIDATES]
    if position is not None:
        likely.sort(key=lambda match: rank(match[2], match[3], position))
    return [_projected_system(info, use) for _, _, info, use in likely[:most]]


def nearest_systems(
    position: Position, near: Sequence[Position], most: int
) -> list[ProjectedSystem]:
    """The systems that put a position near known places, the nearest first; of equivalent ones only
    the first.

    Args:
        position: x and y.
        near: longitudes and latitudes.
    """
    if not near:
        return []
    west, east = (pick(place[0] for place in near) for pick in (min, max))
    south, north = (pick(place[1] for place in near) for pick in (min, max))
    placed = []
    for info, use in _projected_systems(AreaOfInterest(west, south, east, north)):
        if place := _unprojected_place(info, use, position):
            distance = round(min(_degrees_between(place, other) for other in near), 2)
            if distance <= _NEAR:
                placed.append((distance, _sort_key(info), place, _projected_system(info, use)))
    distinct: list[tuple[Position, ProjectedSystem]] = []
    for _, _, place, system in sorted(placed):
        if all(_degrees_between(place, other) > _EQUIVALENT for other, _ in distinct):
            distinct.append((place, system))
    return [system for _, system in distinct[:most]]


def bounds_in_degrees(code: str, box: Box) -> Box | None:
    """West, south, east and north of a box in a coordinate system, for a map: without a change of
    datum. West is greater than east where it crosses 180 degrees. None: it has no such box."""
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
    offsets = [_within_180(longitude - first) for longitude in longitudes]
    west, east = (round(_within_180(first + pick(offsets)), _MAP_DECIMALS) for pick in (min, max))
    return west, round(min(latitudes), _MAP_DECIMALS), east, round(max(latitudes), _MAP_DECIMALS)


def _within_180(longitude: float) -> float:
    return (longitude + 180) % 360 - 180


def _projected_systems(area: AreaOfInterest | None) -> Iterator[tuple[CRSInfo, AreaOfUse]]:
    for info in query_crs_info("EPSG", PJType.PROJECTED_CRS, area_of_interest=area):
        use = info.area_of_use
        if use is not None and (use.east - use.west) % 360 <= _LARGEST:
            yield info, use


def _projected_system(info: CRSInfo, use: AreaOfUse) -> ProjectedSystem:
    return ProjectedSystem(f"EPSG:{info.code}", str(info.name), str(use.name))


def _unprojected_place(info: CRSInfo, use: AreaOfUse, position: Position) -> Position | None:
    """The longitude and latitude of a position in a system, without a change of datum; None: it is
    outside the area of the system."""
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


def _degrees_between(place: Position, other: Position) -> float:
    """The degrees of latitude between two places."""
    (longitude, latitude), (other_longitude, other_latitude) = place, other
    east = abs(longitude - other_longitude) % 360
    width = min(east, 360 - east) * math.cos(math.radians(latitude))
    return math.hypot(width, latitude - other_latitude)


def _sort_key(info: CRSInfo) -> tuple[bool, bool, int]:
    """A key that sorts equivalent systems: first those with a current datum, and those whose name
    has no addition in parentheses, such as another order of the axes."""
    is_old = info.name.partition(" / ")[0] not in _CURRENT_DATUMS
    return is_old, " (" in info.name or "zN" in info.name, int(info.code)


def _has_words(text: str, words: Sequence[str]) -> bool:
    joined = text.replace(" ", "")
    return all(word in text or word in joined for word in words)


def _folded_text(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold()).translate(_STROKES)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
