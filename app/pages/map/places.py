"""Places by their names, in words and in numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.formats.crs_search import Position, find_systems, is_within, nearest_systems
from app.formats.features import Letters
from app.formats.readers.places import NO_PLACE, Place, PlaceInvalid, attempt, read_place
from app.gazetteer import has_towns, search_countries, search_towns
from app.geometry.countries import country_at, country_box, country_name
from app.lists.query import ListQuery
from app.models import Project
from app.pages.where import where_it_lies
from app.policy.countries import COUNTRY_CODES
from app.projects.listing import list_projects
from app.projects.places import NEAR, degrees_from, project_places
from app.site import formats
from app.values.folding import fold_name, searchable_text
from app.values.strict_json import loads

Json = dict[str, Any]
_Named = tuple[Any, ...]  # a place, and the names by which it is found

_MOST: Final = {"project": 4, "country": 2, "town": 6}
_TOWNS: Final = 50  # of which those near projects come first
_SYSTEMS: Final = 3
_SCANNED: Final = 10_000  # projects whose metadata is searched: the newest
_ROWS: Final = 500
# What a letter may mean that can mean two things, each with what is said of it.
_MEANINGS: Final = (
    (Letters("east", "hemisphere"), {"O": "O is east (Ost)", "S": "S is the south"}),
    (Letters("west", "band"), {"O": "O is west (ouest, oeste)", "S": "S is 32° to 40° north"}),
)
_SPLIT: Final = (r"\s*[;/|]\s*", r",\s+", r"\s+", ",")
_METERS: Final = r"([+-]?[0-9]{4,8}(?:[.,][0-9]{1,3})?)"
_TWO_METERS: Final = re.compile(rf"(?<![\w.,:]){_METERS}(?:\s*[,;/]\s*|\s+){_METERS}(?![\w.])")
_METADATA: Final = CompiledQuery(
    columns_of(Project, Project.id, Project.metadata_json)
    .where(Project.metadata_json.is_not(None))
    .order_by(Project.created_at.desc(), Project.id.desc())
    .limit(bindparam("most"))
)


def find_places(account_id: str, text: str) -> tuple[list[Json], str]:
    """The places that a text may mean, the likeliest first; and a sentence where there are none.

    Each has a ``kind``, a ``name``, a ``note``, and either a ``place``, as longitude and latitude,
    with the ``zoom`` to see it at, or a ``box``: west, south, east, north.
    """
    text = " ".join(text.replace("\0", " ").split())
    if not text:
        return [], ""
    positions, reason = _positions(account_id, text)
    found = positions + _named(account_id, text)
    if found:
        return found, ""
    if reason != NO_PLACE:
        return [], formats.sentence(reason)
    names = "town, country or project" if has_towns() else "country or project"
    return [], formats.sentence(f"No {names} is called “{text}”. {NO_PLACE}")


def _named(account_id: str, text: str) -> list[Json]:
    """Projects, countries and towns; those first of which the text is the whole name, or with which
    the name of a project begins."""
    whole = fold_name(text)

    def is_other(found: _Named) -> bool:
        place, *names = found
        is_begun = place["kind"] == "project" and fold_name(names[0]).startswith(whole)
        return not is_begun and whole not in map(fold_name, names)

    near = project_places(account_id)
    countries = islice(_countries(text), _MOST["country"])
    found = [*_projects(account_id, text), *countries, *_towns(text, near)]
    return [place for place, *_ in sorted(found, key=is_other)]


def _projects(account_id: str, text: str) -> Iterator[_Named]:
    most = _MOST["project"]
    query = ListQuery(search=text, per_page=most, sort="name")
    records = [
        (record, record["external_id"] or "")
        for record in list_projects(account_id, query, boundaries=False)[0]
    ]
    if len(records) < most:
        known = {record["id"] for record, _ in records}
        noted = dict(_metadata_matches(account_id, text, known, most - len(records)))
        if noted:
            query = ListQuery(ids=tuple(noted), per_page=most, sort="name")
            others = list_projects(account_id, query, boundaries=False)[0]
            records += [(record, noted[record["id"]]) for record in others]
    for record, note in records:
        if record["bbox"]:
            west, south, east, north = record["bbox"]
            box = [west, south, east + 360 if east < west else east, north]
            state = "archived project" if record["status"] == "archived" else "project"
            shown = " · ".join(filter(None, [state, note]))
            yield (
                {"kind": "project", "name": record["name"], "note": shown, "box": box},
                record["name"],
                record["external_id"] or "",
            )


def _metadata_matches(
    account_id: str, text: str, known: set[str], most: int
) -> Iterator[tuple[str, str]]:
    """Ids of projects of which a value of the metadata has the text, with the key and the value."""
    needle = searchable_text(text)
    for rows in _METADATA.stream(_ROWS, account_id=account_id, most=_SCANNED):
        for project_id, metadata in rows:
            if needle not in searchable_text(metadata) or project_id in known:
                continue
            for key, value in loads(metadata.encode()).items():
                if needle in searchable_text(str(value)):
                    yield project_id, f"{key}: {value}"
                    most -= 1
                    break
            if not most:
                return


def _countries(text: str) -> Iterator[_Named]:
    whole, codes = fold_name(text), search_countries(text)
    if not has_towns():  # nor names in other languages
        codes = {code: country_name(code) for code in sorted(COUNTRY_CODES)}
        codes = {code: name for code, name in codes.items() if fold_name(name).startswith(whole)}
    is_named = whole in map(fold_name, codes.values())
    for code, alias in codes.items():
        name = country_name(code)
        is_likely = whole == fold_name(alias) or fold_name(name).startswith(whole)
        if (box := country_box(code)) and (is_likely or not is_named):
            is_other = fold_name(alias) != fold_name(name) and len(alias) > 3
            shown = f"{name} ({alias})" if is_other else name
            yield {"kind": "country", "name": shown, "note": "country", "box": box}, name, alias


def _towns(text: str, near: list[Position]) -> Iterator[_Named]:
    """The towns that a text begins the name of, those near projects first."""
    towns = search_towns(text, _TOWNS)
    if not towns and "," in text:  # Albac, Romania
        text, _, country = text.partition(",")
        if codes := list(search_countries(country)):
            towns = search_towns(text, _TOWNS, codes)
    whole = fold_name(text)
    towns.sort(
        key=lambda town: (
            whole not in (fold_name(town.name), fold_name(town.alias)),
            degrees_from(near, town.longitude, town.latitude) > NEAR,
        )
    )
    named = Counter((town.name, town.country) for town in towns)
    for town in towns[: _MOST["town"]]:
        notes = [country_name(town.country)]
        if town.population:
            notes.append(formats.pluralize(town.population, "person", "people"))
        if named[town.name, town.country] > 1:
            notes.append(formats.degrees(town.latitude, town.longitude, 1))
        shown = {
            "kind": "town",
            "name": f"{town.alias} ({town.name})" if town.alias else town.name,
            "note": " · ".join(notes),
            "place": (town.longitude, town.latitude),
            "zoom": _zoom(town.population),
        }
        yield shown, town.name, town.alias


def _zoom(people: int) -> int:
    """The zoom at which a town of so many people fits on a map."""
    return 14 - sum(people >= size for size in (5_000, 50_000, 300_000, 2_000_000))


def _positions(account_id: str, text: str) -> tuple[list[Json], str]:
    """The readings of a text as a position, the likelier first; and why there is none."""
    readings, reason = _readings(text)
    is_grid = not readings or "epsg" in text.casefold()
    near = project_places(account_id) if is_grid or len(readings) > 1 else []
    if is_grid and (found := _TWO_METERS.search(text)):
        readings += _on_grids(text, found, near)
    distinct: dict[Position, str] = {}
    for (x, y), note in readings:
        distinct.setdefault((round(x, 6), round(y, 6)), note)
    on_land = [place for place in distinct if country_at(*place)]
    likely = [place for place in on_land if degrees_from(near, *place) <= NEAR] + on_land
    return [
        {
            "kind": "position",
            "name": where_it_lies(*place),
            "note": distinct[place],
            "place": place,
            "zoom": 13,
        }
        for place in dict.fromkeys(likely + list(distinct))
        if place in on_land or not on_land or distinct[place] != "longitude first"
    ], reason


def _readings(text: str) -> tuple[list[tuple[Position, str]], str]:
    """Longitudes and latitudes that a text can mean, with how it was read; and the reason why it
    is no position."""
    readings, reason = list[tuple[Position, str]](), NO_PLACE
    try:
        place = read_place(text)
        if place.letter:
            for letters, words in _MEANINGS:
                readings.append((_in_degrees(read_place(text, letters)), words[place.letter]))
        else:
            readings.append((_in_degrees(place), ""))
    except PlaceInvalid as error:
        reason = str(error)
    if not any(map(str.isalpha, text)):
        if not readings and (swapped := attempt(read_place, _swapped(text))):
            readings.append((_in_degrees(swapped), "longitude first"))
        elif readings and abs(readings[0][0][0]) <= 90:
            (x, y), _ = readings[0]
            readings = [((x, y), "latitude first"), ((y, x), "longitude first")]
    return readings, reason


def _swapped(text: str) -> str:
    """Two numbers in the other order; an empty text unless it is two."""
    for between in _SPLIT:
        halves = re.split(between, text.strip("()[] "))
        if len(halves) == 2:
            return "; ".join(reversed(halves))
    return ""


def _in_degrees(place: Place) -> Position:
    longitude, latitude, *_ = place.in_degrees()
    return longitude, latitude


def _on_grids(text: str, found: re.Match[str], near: list[Position]) -> list[tuple[Position, str]]:
    """The positions of two numbers of meters in systems that the rest of the text names; if there
    is no rest, in those that put them near the account's projects."""
    name = f"{text[: found.start()]} {text[found.end() :]}".strip(" ,;:()[]")
    first, second = (float(number.replace(",", ".")) for number in found.groups())
    readings = []
    named = find_systems(name, near, _SYSTEMS)
    for x, y in ((first, second), (second, first)):
        for system in named if name else nearest_systems((x, y), near, _SYSTEMS):
            with suppress(PlaceInvalid):
                place = _in_degrees(Place(x, y, int(system.code.removeprefix("EPSG:"))))
                if is_within(place, system.bounds):
                    readings.append((place, f"{system.name} ({system.code})"))
        if len(readings) >= _SYSTEMS:
            break
    return readings[:_SYSTEMS]
