"""Finding the columns of a CSV file that have the geometries, and reading a row's geometry."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from app.formats.features import FileInvalid
from app.formats.positions import unreadable_geometry
from app.formats.readers.coordinate_text import (
    is_precise_pair,
    is_survey,
    read_degrees,
    read_pair,
    read_survey,
)
from app.formats.readers.csv_rows import Row
from app.formats.readers.geometry_text import ReadGeometry, is_geometry, read_geometry_text
from app.formats.readers.layer_limits import quoted
from app.formats.readers.ordinates import read_number
from app.geometry.problems import GeometryInvalid
from app.policy.headings import HEADINGS, heading_words, plain_heading, usual_headings

_KINDS: Final = {
    **dict.fromkeys(usual_headings("longitude"), "x"),
    **dict.fromkeys(usual_headings("latitude"), "y"),
}
_ZONES: Final = usual_headings("zone")
# Names that stand for a position in any system, so that they have to be the whole name.
_X_AND_Y: Final = tuple(
    pair
    for language, words in HEADINGS["easting"].items()
    for pair in zip(words.split(), HEADINGS["northing"][language].split(), strict=True)
)
_ZONE: Final = re.compile(
    r"\A(?:UTM)?\s*+(?:zone\s*+)?([1-9]|[1-5][0-9]|60)\s*+([C-HJ-NP-X])", re.IGNORECASE
)
_NAME_OF_ZONE: Final = 30  # characters at most
_NORTH_OF: Final = "N"  # the bands from this letter on; but S is the south, and no band
_GEOJSON: Final = re.compile(
    r'"type"\s*:\s*"((Multi)?(Point|LineString|Polygon)|GeometryCollection)"'
)
LOOKED_AT: Final = 300  # characters at the beginning of a text


class GeometryColumns(ABC):
    """The columns that have the geometries of a file. ``columns`` are the numbers, from 0, of those
    that have nothing else. ``note`` is for whoever imports, and so is ``assumption`` when nobody
    names the coordinate reference system."""

    columns: tuple[int, ...] = ()
    note: str | None = None
    assumption: str | None = None

    @abstractmethod
    def read(self, row: Row) -> ReadGeometry | None:
        """The geometry of a row, or None.

        Raises:
            GeometryInvalid: it cannot be read.
        """


class NoGeometry(GeometryColumns):
    note = (
        "No column has geometries. They can be WKT or GeoJSON, areas and lines of ODK or Kobo, or "
        "latitude and longitude, in one column or two, named “latitude” and “longitude”."
    )

    def read(self, row: Row) -> ReadGeometry | None:
        return None


class TextColumn(GeometryColumns):
    """A column with geometries as text."""

    def __init__(self, column: int) -> None:
        self.columns = (column,)

    def read(self, row: Row) -> ReadGeometry | None:
        text = row[self.columns[0]]
        return read_geometry_text(text) if text.strip() else None


class EitherColumns(GeometryColumns):
    """A column with geometries as text, and columns with the points of rows where that is empty."""

    def __init__(self, text: TextColumn, points: PointColumns, names: Sequence[str]) -> None:
        self._text, self._points = text, points
        self.columns = (*text.columns, *points.columns)
        column, x, y = (quoted(names[each]) for each in self.columns)
        self.note = f"Where {column} is empty, the place is from {x} and {y}."
        self.assumption = points.assumption

    def read(self, row: Row) -> ReadGeometry | None:
        return self._text.read(row) or self._points.read(row)


class SurveyColumn(GeometryColumns):
    """A column with points, lines and areas of ODK or Kobo."""

    def __init__(self, column: int, name: str) -> None:
        self.columns = (column,)
        self.note = (
            f"{quoted(name)} was read as ODK and Kobo write places, with the latitude first."
        )

    def read(self, row: Row) -> ReadGeometry | None:
        text = row[self.columns[0]]
        if not text.strip():
            return None
        geometry, positions, has_altitudes = read_survey(text)
        return ReadGeometry(geometry, 4326, positions, is_flat=not has_altitudes)


class PairColumn(GeometryColumns):
    """A column with latitude and longitude together."""

    def __init__(self, column: int, name: str) -> None:
        self.columns = (column,)
        self.note = (
            f"{quoted(name)} was read as latitude and longitude, in this order where no letters "
            "say another one."
        )

    def read(self, row: Row) -> ReadGeometry | None:
        text = row[self.columns[0]]
        if not text.strip():
            return None
        position = read_pair(text)
        if position is None:
            message = f"{quoted(text)} is not a latitude and a longitude."
            raise GeometryInvalid([unreadable_geometry(message, "wrong_position")])
        return ReadGeometry({"type": "Point", "coordinates": position}, 4326, 1, is_flat=True)


class PointColumns(GeometryColumns):
    """A column with longitudes and one with latitudes; or x and y, which can be anything, perhaps
    with a column of UTM zones."""

    def __init__(
        self, x: int, y: int, names: Sequence[str], *, are_degrees: bool, zone: int | None = None
    ) -> None:
        self.columns = (x, y)
        self._names = (names[x], names[y])
        self._are_degrees = are_degrees
        self._zone = zone
        if zone is not None:
            self.note = f"The UTM zones are from {quoted(names[zone])}."
        elif not are_degrees:
            self.assumption = (
                f"{quoted(names[x])} and {quoted(names[y])} were taken for longitude and latitude "
                "in degrees. If they are meters, say in which coordinate system."
            )

    def read(self, row: Row) -> ReadGeometry | None:
        texts = [row[column].strip() for column in self.columns]
        if not any(texts):
            return None
        position = []
        for name, text in zip(self._names, texts, strict=True):
            if not text:
                message = f"{quoted(name)} is empty, and the other number of the position is not."
                raise GeometryInvalid([unreadable_geometry(message, "wrong_position")])
            number = self._number(text.replace(",", ".") if text.count(",") == 1 else text)
            if number is None:
                message = f"{quoted(name)} is not a number: {quoted(text)}."
                raise GeometryInvalid([unreadable_geometry(message, "not_a_number")])
            position.append(number)
        srid = _utm(row[self._zone]) if self._zone is not None else None
        return ReadGeometry({"type": "Point", "coordinates": position}, srid, 1, is_flat=True)

    def _number(self, text: str) -> float | None:
        number = read_number(text)
        if number is None and self._are_degrees and (degrees := read_degrees(text)) is not None:
            return degrees.value
        return number


def find_geometry(names: Sequence[str], sample: Sequence[Row]) -> GeometryColumns:
    """The columns with the geometries of a file, by their names and by what is in them.

    Args:
        names: of all columns.
        sample: its first rows.
    """
    keys = [heading_words(name) for name in names]
    joined = {"".join(words): column for column, words in reversed([*enumerate(keys)])}
    texts = [_texts(sample, column) for column in range(len(names))]
    points = _points(names, keys, joined, texts)
    for usual in (joined[name] for name in usual_headings("geometry") if name in joined):
        if any(map(looks_like_geometry, texts[usual])):
            return _with_points(TextColumn(usual), points, names, sample)
    if (column := _first(texts, _is_surely_geometry)) is not None:
        return _with_points(TextColumn(column), points, names, sample)
    if (column := _first(texts, is_survey)) is not None:
        return SurveyColumn(column, names[column])
    if points:
        return points
    named = [each if _can_be_position(names[n]) else [] for n, each in enumerate(texts)]
    column = _first(named, lambda text: read_pair(text) is not None)
    if column is None:
        column = _first(texts, is_precise_pair)
    return NoGeometry() if column is None else PairColumn(column, names[column])


def _points(
    names: Sequence[str],
    keys: Sequence[tuple[str, ...]],
    joined: Mapping[str, int],
    texts: Sequence[list[str]],
) -> PointColumns | None:
    """The columns that have points by their names, or None."""
    if found := _longitude_and_latitude(keys):
        return PointColumns(*found, names, are_degrees=True)
    for x, y in _X_AND_Y:
        if x in joined and y in joined and "west" not in joined:  # and no box
            zone = next((joined[name] for name in _ZONES if name in joined), None)
            if zone is not None and not all(map(_zone, texts[zone])):
                zone = None
            return PointColumns(joined[x], joined[y], names, are_degrees=False, zone=zone)
    return None


def _with_points(
    text: TextColumn, points: PointColumns | None, names: Sequence[str], sample: Sequence[Row]
) -> GeometryColumns:
    """The column, or both where rows have a point and no text."""
    if points and any(
        len(row) >= len(names)
        and not row[text.columns[0]].strip()
        and all(row[column].strip() for column in points.columns)
        for row in sample
    ):
        return EitherColumns(text, points, names)
    return text


def chosen_geometry(
    names: Sequence[str], sample: Sequence[Row], chosen: Mapping[str, str]
) -> GeometryColumns:
    """The columns with the geometries of a file, as a person has named them.

    Args:
        chosen: as for ``FormatReader.choose_geometry``.

    Raises:
        FileInvalid: the file has no such column, or one has no geometries.
    """
    for name in chosen.values():
        if name not in names:
            raise FileInvalid(f"The file has no column {name!r}. It has: {', '.join(names)}.")
    places = {field: names.index(name) for field, name in chosen.items()}
    if "latitude" in places:
        return PointColumns(places["longitude"], places["latitude"], names, are_degrees=True)
    if "easting" in places:
        x, y, zone = places["easting"], places["northing"], places.get("zone")
        return PointColumns(x, y, names, are_degrees=False, zone=zone)
    column = places["geometry"]
    texts = _texts(sample, column)
    if any(map(looks_like_geometry, texts)):
        return TextColumn(column)
    if any(map(is_survey, texts)):
        return SurveyColumn(column, names[column])
    if any(read_pair(text) for text in texts):
        return PairColumn(column, names[column])
    raise FileInvalid(
        f"{quoted(names[column])} has no geometries. They can be WKT, GeoJSON, places of ODK or "
        "Kobo, or latitude and longitude together."
    )


def _texts(sample: Sequence[Row], column: int) -> list[str]:
    """The beginnings of what a column has in some rows."""
    texts = (row[column].strip() for row in sample if column < len(row))
    return list(filter(None, texts))


def _first(texts: Sequence[list[str]], is_kind: Callable[[str], bool]) -> int | None:
    """The first column that has texts, all of a kind."""
    return next((n for n, each in enumerate(texts) if each and all(map(is_kind, each))), None)


def _is_surely_geometry(text: str) -> bool:
    """True for the text of a geometry, also where the name of its column does not say so."""
    is_other_object = text.startswith("{") and not _GEOJSON.search(text)
    return looks_like_geometry(text) and not is_other_object


def _zone(text: str) -> re.Match[str] | None:
    return _ZONE.fullmatch(text.strip()) if len(text) < _NAME_OF_ZONE else None


def _utm(zone: str) -> int:
    """The EPSG code of a UTM zone on WGS 84, such as "32N" or "32T". Raises GeometryInvalid."""
    found = _zone(zone)
    if found is None:
        message = f"{quoted(zone)} is not a UTM zone, such as 32N."
        raise GeometryInvalid([unreadable_geometry(message, "wrong_crs")])
    letter = found[2].upper()
    is_north = letter >= _NORTH_OF and letter != "S"
    return (32600 if is_north else 32700) + int(found[1])


def can_be_geometry(name: str) -> bool:
    """True if a column of this name can have geometries as text."""
    return plain_heading(name) in usual_headings("geometry")


def _can_be_position(name: str) -> bool:
    return any(word in plain_heading(name) for word in usual_headings("position"))


def looks_like_geometry(text: str) -> bool:
    return is_geometry(text[:LOOKED_AT])


def _longitude_and_latitude(keys: Sequence[tuple[str, ...]]) -> tuple[int, int] | None:
    """The two columns whose names are the same but for the last words; of several, the shortest
    names. Else the only column with such a word of each kind."""
    found: dict[tuple[str, ...], dict[str, int]] = {}
    for column, words in enumerate(keys):
        for start in range(len(words)):
            kind = _KINDS.get("".join(words[start:]))
            if kind:
                found.setdefault(words[:start], {}).setdefault(kind, column)
                break
    pairs = [before for before, both in found.items() if len(both) == 2]
    if not pairs:
        columns = {kind: column for both in found.values() for kind, column in both.items()}
        return (columns["x"], columns["y"]) if len(columns) == len(found) == 2 else None
    both = found[min(pairs, key=len)]
    return both["x"], both["y"]
