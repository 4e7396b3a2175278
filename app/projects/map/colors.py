"""What a map of projects is colored by, and its legend: the status, the country, or a key of the
metadata, ``metadata.KEY``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import call, itemgetter
from typing import Any, Final, NamedTuple

from app.api.expensive import answer_in_turn
from app.api.query_schemas import METADATA_PREFIX
from app.geometry.countries import country_name
from app.lists.query import ListQuery
from app.lists.scanning import scan_list
from app.models import Project
from app.policy.request_limits import (
    COLOR_CLASSES,
    COLOR_KEYS,
    COLOR_PROJECTS,
    COLOR_VALUES,
    PROJECT_STATUSES,
)
from app.projects.listing import TABLE
from app.projects.map.shapes import by_row, in_groups
from app.values.strict_json import dumps, loads
from app.values.text import display_text

COUNTRY: Final = "country"
_REST: Final = "archived"  # the color of other values
_COUNTRIES: Final = by_row(Project.country)
_METADATA: Final = by_row(Project.metadata_json)


class LegendRow(NamedTuple):
    """A color of the legend: that of a value or, up to ``most``, of a class of numbers; without
    both, that of the other values or, if it ``is_none``, of no value."""

    words: str
    color: str
    projects: int
    value: str | None = None
    most: float | None = None
    is_none: bool = False


class Legend(NamedTuple):
    """The keys of the metadata that a map can be colored by, and the colors of its values.

    Attributes:
        counted: the number of projects with a boundary that these are counted in.
        is_all: True if there are no others.
    """

    keys: list[str]
    rows: list[LegendRow]
    counted: int
    is_all: bool


def read_values(account_id: str, rows: Sequence[Any], color_by: str) -> dict[int, str]:
    """The texts of the values that a map is colored by, by the ``row`` of the project; without
    those that have none. With the status, which each feature has anyway, there are none."""
    if not color_by:
        return {}
    if color_by == COUNTRY:
        return {row: code for row, code in in_groups(account_id, _COUNTRIES, rows) if code}
    key = color_by.removeprefix(METADATA_PREFIX)
    pairs = in_groups(account_id, _METADATA, rows)
    values = ((row, _simple_values(text).get(key)) for row, text in pairs)
    return {row: _text_of(value) for row, value in values if value is not None}


def read_legend(account_id: str, query: ListQuery, color_by: str) -> Legend:
    """The legend of a map of the projects with a boundary that match the filters of a query, in
    all of the world.

    Raises:
        ServiceUnavailable: too many requests are waiting.
    """
    answer_in_turn()
    key = color_by.removeprefix(METADATA_PREFIX)
    keys, values, counted = Counter[str](), Counter[Any](), 0
    projects = _read_projects(account_id, query)
    for status, country, metadata in projects:
        counted += 1
        members = _simple_values(metadata)
        keys.update(members.keys())
        by = {"": status, COUNTRY: country}
        values[by[color_by] if color_by in by else members.get(key)] += 1
        if counted == COLOR_PROJECTS:
            break
    rows = list(_rows(values, color_by))
    offered = sorted(name for name, _ in keys.most_common(COLOR_KEYS))
    return Legend(offered, rows, counted, next(projects, None) is None)


def _read_projects(account_id: str, query: ListQuery) -> Iterator[tuple[Any, ...]]:
    """Yield (status, country, metadata) of the projects with a boundary, the oldest first."""
    if query.filters.get("has_geometry") is False:
        return
    query = query._replace(filters={**query.filters, "has_geometry": True}, bbox=None)
    read: Any = call
    output = (Project.status, Project.country, Project.metadata_json)
    for batch in scan_list(
        read, TABLE, account_id, account_id, query, output=output, size=None, make=lambda *row: row
    ):
        yield from batch


def _simple_values(metadata: str | None) -> dict[str, Any]:
    """The texts and numbers of metadata by their keys; booleans as texts, as 1 is True."""
    members = loads(metadata.encode()) if metadata else {}
    return {
        key: _text_of(value) if isinstance(value, bool) else value
        for key, value in members.items()
        if isinstance(value, str | int | float) and str(value).strip()
    }


def _text_of(value: Any) -> str:
    return display_text(value) if isinstance(value, str) else dumps(value).decode()


def _rows(values: Counter[Any], color_by: str) -> Iterator[LegendRow]:
    missing = values.pop(None, 0)
    if not color_by:
        for status in PROJECT_STATUSES:
            if values[status]:
                yield LegendRow(status.capitalize(), status, values[status], status)
    elif values and all(type(value) in (int, float) for value in values):
        yield from _classes(values)
    else:
        texts = Counter[str]()
        for value, count in values.items():
            texts[_text_of(value)] += count
        ranked = sorted(texts.items(), key=lambda pair: (-pair[1], pair[0]))
        for number, (text, count) in enumerate(ranked[:COLOR_VALUES], 1):
            words = country_name(text) if color_by == COUNTRY else text
            yield LegendRow(words, f"category-{number}", count, text)
        if others := ranked[COLOR_VALUES:]:
            yield LegendRow("Other values", _REST, sum(map(itemgetter(1), others)))
    if missing:
        yield LegendRow("No value", _REST, missing, is_none=True)


def _classes(numbers: Counter[float]) -> Iterator[LegendRow]:
    """Divide numbers into classes with about as many projects each; few numbers have their own."""
    total, before, placed = numbers.total(), 0, list[tuple[int, float]]()
    for place, number in enumerate(sorted(numbers)):
        middle = (before + numbers[number] / 2) / total
        are_few = len(numbers) <= COLOR_CLASSES
        placed.append((place if are_few else int(middle * COLOR_CLASSES), number))
        before += numbers[number]
    for place, members in groupby(placed, itemgetter(0)):
        inside = [number for _, number in members]
        ends = dict.fromkeys(map(_text_of, (inside[0], inside[-1])))
        count = sum(numbers[number] for number in inside)
        yield LegendRow(" to ".join(ends), f"class-{place + 1}", count, most=inside[-1])
