"""Finding projected coordinate systems by name or country, and by where they put a position."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from pyproj import CRS, Proj
from pyproj.aoi import AreaOfInterest
from pyproj.database import query_crs_info
from pyproj.enums import PJType
from pyproj.exceptions import ProjError

from app.geometry.countries import country_at, country_name
from app.values.folding import searchable_text

Position = tuple[float, float]
Box = tuple[float, float, float, float]

_MARGIN: Final = 0.5  # degrees beyond its area in which a system is still used
_NEAR: Final = 5.0  # degrees from known places
_EQUIVALENT: Final = 0.01  # degrees between systems that differ in their datum only
_STEPS: Final = 4  # along each edge of a box, which may be an arc elsewhere
_CANDIDATES: Final = 200  # each takes some 0.15 ms
_MAP_DECIMALS: Final = 5
_NUMBER: Final = re.compile("[0-9]+(?![0-9°])")
_LARGEST: Final = 60.0  # degrees; systems for half a continent or more are for maps, not surveys
_CURRENT_DATUMS: Final = ("ETRS89", "WGS 84", "SIRGAS 2000", "GDA2020", "NAD83")
_WEB_MERCATOR: Final = 3857
_UTM: Final = (*range(32601, 32661), *range(32701, 32761))
# The systems that are usual in a country, by their EPSG codes; zones of UTM are not listed.
NATIONAL: Final[dict[str, tuple[int, ...]]] = {
    "FR": (2154, 27572), "GB": (27700,), "IE": (2157, 29903), "NL": (28992,), "BE": (31370, 3812),
    "LU": (2169,), "CH": (2056, 21781), "AT": (31287, 31254, 31255, 31256),
    "DE": (31466, 31467, 31468, 31469), "SE": (3006, 3021), "FI": (3067, 2393), "EE": (3301,),
    "LV": (3059,), "LT": (3346,), "PL": (2180, 2176, 2177, 2178, 2179), "CZ": (5514,),
    "SK": (5514,), "HU": (23700,), "RO": (3844,), "BG": (7801,), "HR": (3765,), "SI": (3794, 3912),
    "GR": (2100,), "PT": (3763, 20790), "IT": (3003, 3004), "IS": (3057,), "CY": (6312,),
    "IL": (2039,), "MA": (26191, 26192), "NG": (26391, 26392, 26393), "GH": (25000,),
    "MG": (29702,), "MY": (3375, 3376), "SG": (3414,), "LK": (5235,), "TW": (3826,),
    "PH": (3121, 3122, 3123, 3124, 3125), "KR": (5186, 5179), "AU": (3577,),
    "NZ": (2193, 27200), "BR": (5880,), "AR": (22181, 22182, 22183, 22184, 22185, 22186, 22187),
    "CO": (9377, 3116), "CR": (5367,), "MX": (6372,), "US": (5070,), "CA": (3347, 3005, 3400),
}  # fmt: skip


class ProjectedSystem(NamedTuple):
    """A projected coordinate system. ``code``: such as "EPSG:25832"; ``area``: where it is used, in
    words; ``bounds``: the degrees of that."""

    code: str
    name: str
    area: str
    bounds: Box


def find_systems(
    text: str,
    near: Sequence[Position],
    most: int,
    position: Position | None = None,
) -> list[ProjectedSystem]:
    """The systems whose code, name or area has all words of a text, ignoring case and accents.

    Those come first that put ``position`` into a country that the text names, then those that put
    it into their area, then those that are used at places ``near``.

    Args:
        near: longitudes and latitudes, such as an account's projects have.
        position: x and y, as a file has them.
    """
    words = searchable_text(text).split()
    if not words:
        return []

    def country_rank(system: ProjectedSystem) -> int:
        place = _place_within(system, position) if position else None
        if place is None:
            return 2
        country = country_name(country_at(*place) or "")
        return int(set(words).isdisjoint(searchable_text(country).split()))

    def is_elsewhere(system: ProjectedSystem) -> bool:
        return not any(is_within(place, system.bounds) for place in near)

    found = [
        system
        for system in _projected_systems(None)
        if _has_words(searchable_text("; ".join(system[:3])), words)
    ]
    by_code: dict[str, ProjectedSystem] = {}
    for system in sorted(found, key=lambda system: (is_elsewhere(system), _sort_key(system))):
        by_code.setdefault(system.code, system)  # PROJ lists one once for each of its areas
    return sorted(list(by_code.values())[:_CANDIDATES], key=country_rank)[:most]


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
    (west, east), (south, north) = ((min(each), max(each)) for each in zip(*near, strict=True))
    cells = {(round(x), round(y)) for x, y in near}
    # Degrees of longitude as wide as _NEAR, and one for the rounding and the area's own margin.
    margins = [(cell, 1 + _NEAR / math.cos(math.radians(cell[1]))) for cell in cells]
    placed = []
    for system in _projected_systems(AreaOfInterest(west, south, east, north)):
        if not any(is_within(cell, system.bounds, margin) for cell, margin in margins):
            continue  # to place a position takes 1 ms, and there are 5,000 systems
        if place := _place_within(system, position):
            distance = round(min(_degrees_between(place, other) for other in near), 2)
            if distance <= _NEAR:
                placed.append((distance, _sort_key(system), place, system))
    distinct: dict[Position, ProjectedSystem] = {}
    for _, _, place, system in sorted(placed):
        if all(_degrees_between(place, other) > _EQUIVALENT for other in distinct):
            distinct[place] = system
    return list(distinct.values())[:most]


def usual_systems(position: Position) -> list[ProjectedSystem]:
    """The systems that put a position into a country where they are usual; then Web Mercator, if
    that puts it on land, and the zones of UTM that do, with the country as their area."""
    usual, zones = [], []
    for number in dict.fromkeys([*chain(*NATIONAL.values()), _WEB_MERCATOR, *_UTM]):
        crs = CRS.from_epsg(number)
        system = _projected_system(number, crs.name, crs.area_of_use)
        place = _place_within(system, position)
        country = country_at(*place) if place else None
        if country and number in NATIONAL.get(country, ()):
            usual.append(system)
        elif country and number == _WEB_MERCATOR:
            usual.append(system._replace(area="maps on the web"))
        elif country and number in _UTM:
            zones.append(system._replace(area=country_name(country)))
    return usual + sorted(zones, key=lambda zone: zone.area)


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
    if not all(map(math.isfinite, (*longitudes, *latitudes))):  # far outside of some systems
        return None
    first = longitudes[0]
    offsets = [_within_180(longitude - first) for longitude in longitudes]
    west, east = (round(_within_180(first + pick(offsets)), _MAP_DECIMALS) for pick in (min, max))
    return west, round(min(latitudes), _MAP_DECIMALS), east, round(max(latitudes), _MAP_DECIMALS)


def _within_180(longitude: float) -> float:
    return (longitude + 180) % 360 - 180


def _projected_systems(area: AreaOfInterest | None) -> Iterator[ProjectedSystem]:
    for info in query_crs_info("EPSG", PJType.PROJECTED_CRS, area_of_interest=area):
        use = info.area_of_use
        if use is not None and (use.east - use.west) % 360 <= _LARGEST:
            yield _projected_system(info.code, info.name, use)


def _projected_system(number: int | str, name: str, use: Any) -> ProjectedSystem:
    return ProjectedSystem(f"EPSG:{number}", str(name), str(use.name), use.bounds)


def _place_within(system: ProjectedSystem, position: Position) -> Position | None:
    """The longitude and latitude of a position in a system, without a change of datum; None: it has
    none, or it is outside the area of the system."""
    try:
        longitude, latitude = Proj(system.code)(*position, inverse=True, errcheck=True)
    except ProjError:
        return None
    return (longitude, latitude) if is_within((longitude, latitude), system.bounds) else None


def is_within(place: Position, bounds: Box, margin: float = _MARGIN) -> bool:
    """True if a longitude and latitude lie in the area of a system, or little beyond it: by
    ``margin`` degrees."""
    longitude, latitude = place
    west, south, east, north = bounds
    width = ((east - west) % 360 or 360) + 2 * margin
    is_between = (longitude - west + margin) % 360 <= width
    return is_between and south - margin <= latitude <= north + margin


def _degrees_between(place: Position, other: Position) -> float:
    """The degrees of latitude between two places."""
    (longitude, latitude), (other_longitude, other_latitude) = place, other
    east = abs(longitude - other_longitude) % 360
    width = min(east, 360 - east) * math.cos(math.radians(latitude))
    return math.hypot(width, latitude - other_latitude)


def _sort_key(system: ProjectedSystem) -> tuple[bool, bool, int]:
    """A key that sorts equivalent systems: first those with a current datum, and those whose name
    has no addition in parentheses, such as another order of the axes."""
    is_old = system.name.partition(" / ")[0] not in _CURRENT_DATUMS
    number = int(system.code.removeprefix("EPSG:"))
    return is_old, " (" in system.name or "zN" in system.name, number


def _has_words(text: str, words: Sequence[str]) -> bool:
    """True if a text has all words, with or without the spaces in it; a short number, such as that
    of a zone, is no part of another one, nor of degrees."""
    joined, numbers = text.replace(" ", ""), _NUMBER.findall(text)
    return all(
        word in numbers if word.isdecimal() and len(word) < 3 else word in text or word in joined
        for word in words
    )
