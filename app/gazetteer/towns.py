"""Countries and towns by name, and towns by position, from the file that set-up made of GeoNames.

The file is opened for each question, which takes 0.1 ms: so forked processes and threads share no
connection, and one that set-up has made anew is read from then on.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from app.gazetteer.make import BANDS, FILE
from app.values.folding import fold_name

_FILE: Final = Path(__file__).with_name("made") / FILE
_REACHES: Final = (12, 50, 100)  # km around a position, until there is a town
_KM_PER_DEGREE: Final = 111.2
_AFTER: Final = "\U0010ffff"  # any name that begins with a text is before the text with this

_BY_NAME: Final = """
SELECT towns.name, country, longitude, latitude, people, coalesce(found.name, '')
FROM (
    SELECT town, name, TRUE AS is_whole, weight FROM names WHERE folded = :folded
    UNION ALL SELECT * FROM (
        SELECT town, name, FALSE, weight FROM names
        WHERE folded > :folded AND folded < :after {} ORDER BY weight DESC LIMIT :most
    )
) AS found JOIN towns ON towns.id = town
ORDER BY is_whole DESC, weight DESC
"""
_COUNTRIES: Final = """
SELECT code, name FROM countries WHERE folded >= ? AND folded < ?
ORDER BY folded = ? DESC, length(folded)
"""
_NEAR: Final = """
SELECT name, country, longitude, latitude, people FROM towns
WHERE band BETWEEN ? AND ? AND longitude BETWEEN ? AND ?
"""


class Town(NamedTuple):
    """A place of at least 500 people, or the seat of a municipality.

    Args:
        country: ISO 3166-1 alpha-2.
        alias: the name by which it was found, if that is another one.
        kilometers: from the position that was asked about.
    """

    name: str
    country: str
    longitude: float
    latitude: float
    population: int
    alias: str = ""
    kilometers: float = 0.0


def has_towns() -> bool:
    """True if set-up could make the file of the towns."""
    return _FILE.is_file()


def nearest_town(longitude: float, latitude: float) -> Town | None:
    """The town next to a position in degrees, at most 100 km away; None if there is none."""
    for reach in _REACHES:
        towns = [town for town in _near(longitude, latitude, reach) if town.kilometers <= reach]
        if towns:
            return min(towns, key=lambda town: town.kilometers)
    return None


def search_towns(text: str, limit: int, countries: Iterable[str] = ()) -> list[Town]:
    """Towns of which a name begins with a text, in any spelling, without accents too: first those
    of which it is the whole name, then the largest.

    Args:
        countries: only these, by their codes; none: all.
    """
    folded, wanted = fold_name(text), set(countries)
    if not folded:
        return []
    large = "AND weight >= 100000" if not wanted and len(folded) < 3 and folded.isascii() else ""
    towns: dict[Any, Town] = {}
    values = {"folded": folded, "after": folded + _AFTER, "most": 10_000 if wanted else 50}
    for row in _rows(_BY_NAME.format(large), values):
        town = Town(*row)
        if not wanted or town.country in wanted:
            towns.setdefault(town[:4], town)
    return list(towns.values())[:limit]


def search_countries(text: str) -> dict[str, str]:
    """Countries of which a name begins with a text, in any language: those names by the codes of
    the countries, the best match first."""
    found: dict[str, str] = {}
    if folded := fold_name(text).removeprefix("the "):
        for code, name in _rows(_COUNTRIES, (folded, folded + _AFTER, folded)):
            found.setdefault(code, name)
    return found


def _near(longitude: float, latitude: float, reach: int) -> Iterable[Town]:
    height = reach / _KM_PER_DEGREE
    width = height / max(math.cos(math.radians(latitude)), 0.01)
    south, north = (int((latitude + side + 90) * BANDS) for side in (-height, height))
    for turn in (-360, 0, 360):
        middle = longitude + turn
        if -180 - width <= middle <= 180 + width:
            for row in _rows(_NEAR, (south, north, middle - width, middle + width)):
                kilometers = _kilometers(middle, latitude, row[2], row[3])
                yield Town(*row)._replace(kilometers=kilometers)


def _kilometers(longitude: float, latitude: float, other: float, other_latitude: float) -> float:
    east = (other - longitude) * math.cos(math.radians((latitude + other_latitude) / 2))
    return math.hypot(east, other_latitude - latitude) * _KM_PER_DEGREE


def _rows(statement: str, values: Any) -> list[Any]:
    if not has_towns():
        return []
    address = f"{_FILE.as_uri()}?mode=ro&immutable=1"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
        return database.execute(statement, values).fetchall()
