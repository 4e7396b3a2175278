"""Finding the columns of a CSV file that have the geometries, and reading a row's geometry."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from app.formats.features import FileInvalid, Letters
from app.formats.positions import unreadable_geometry
from app.formats.readers.csv_rows import Row
from app.formats.readers.geometry_text import is_geometry, read_geometry_text
from app.formats.readers.layer_limits import quoted
from app.formats.readers.ordinates import read_number
from app.formats.readers.places import (
    Axis,
    Place,
    PlaceInvalid,
    is_survey,
    names_bands,
    read_degrees,
    read_place,
    read_survey,
    read_system,
    written_letters,
)
from app.formats.readers.wkb import ReadGeometry
from app.geometry.problems import GeometryInvalid
from app.policy.headings import (
    HEADINGS,
    heading_words,
    languages_of,
    plain_heading,
    usual_headings,
)

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
_EPSG_CODE: Final = re.compile(r"(?<![0-9])(?!19|20[0-3])[0-9]{4,5}\Z")  # and no year
# Languages in which O is east (Ost, oost), and in which it is west (oeste, ouest, ovest).
_O_IS_EAST: Final = frozenset({"de", "nl"})
_O_IS_WEST: Final = frozenset({"ca", "es", "fr", "it", "pt"})
_TELLS_NOTHING: Final = frozenset({"ro", "sv"})  # share their headings with these, and have no O
_GEOJSON: Final = re.compile(
    r'"type"\s*:\s*"((Multi)?(Point|LineString|Polygon)|GeometryCollection)"'
)
LOOKED_AT: Final = 300  # characters at the beginning of a text


class GeometryColumns(ABC):
    """The columns that have the geometries of a file. ``columns`` are the numbers, from 0, of those
    that have nothing else. ``note`` is for whoever imports, and so is ``assumption`` when nobody
    names the coordinate reference system."""

    columns: tuple[int, ...] = ()
    mapping: Mapping[str, str] = {}  # as for ``FormatReader.choose_geometry``
    zone: int | None = None  # the column of UTM zones
    sides: tuple[int, ...] = ()  # those with E or W, and N or S, of the numbers before them
    note: str | None = None
    assumption: str | None = None

    @abstractmethod
    def read(self, row: Row, letters: Letters) -> ReadGeometry | None:
        """The geometry of a row, or None.

        Raises:
            GeometryInvalid: it cannot be read.
        """


class NoGeometry(GeometryColumns):
    note = (
        "No column has geometries. They can be WKT or GeoJSON, areas and lines of ODK or Kobo, or "
        "latitude and longitude, in one column or two, named “latitude” and “longitude”."
    )

    def read(self, row: Row, letters: Letters) -> ReadGeometry | None:
        return None


class TextColumn(GeometryColumns):
    """A column with geometries as text."""

    def __init__(self, column: int, name: str) -> None:
        self.columns, self.mapping = (column,), {"geometry": name}

    def read(self, row: Row, letters: Letters) -> ReadGeometry | None:
        text = row[self.columns[0]]
        return read_geometry_text(text) if text.strip() else None


class EitherColumns(GeometryColumns):
    """A column with geometries as text, and columns with the points of rows where that is empty."""

    def __init__(self, text: TextColumn, points: PointColumns, names: Sequence[str]) -> None:
        self._text, self._points = text, points
        self.columns, self.mapping = (*text.columns, *points.columns), text.mapping
        column, x, y = (quoted(names[each]) for each in self.columns)
        self.note = f"Where {column} is empty, the place is from {x} and {y}."
        self.assumption = points.assumption

    def read(self, row: Row, letters: Letters) -> ReadGeometry | None:
        return self._text.read(row, letters) or self._points.read(row, letters)


class SurveyColumn(GeometryColumns):
    """A column with points, lines and areas of ODK or Kobo."""

    def __init__(self, column: int, name: str) -> None:
        self.columns, self.mapping = (column,), {"geometry": name}
        self.note = (
            f"{quoted(name)} was read as ODK and Kobo write places, with the latitude first."
        )

    def read(self, row: Row, letters: Letters) -> ReadGeometry | None:
        text = row[self.columns[0]]
        if not text.strip():
            return None
        geometry, positions, has_altitudes = read_survey(text)
        return ReadGeometry(geometry, 4326, positions, is_flat=not has_altitudes)


class PairColumn(GeometryColumns):
    """A column with places in one text each, of which ``texts`` are some."""

    def __init__(self, column: int, name: str, texts: Sequence[str]) -> None:
        self.columns, self.mapping = (column,), {"geometry": name}
        places = filter(None, map(_place, texts))
        self.note = (
            f"{quoted(name)} was read as places in the zones, squares or systems that it names."
            if next((place.srid for place in places), 4326) != 4326
            else f"{quoted(name)} was read as latitude and longitude, in this order where no "
            "letters say another one."
        )

    def read(self, row: Row, letters: Letters) -> ReadGeometry | None:
        text = row[self.columns[0]]
        if not text.strip():
            return None
        try:
            place = read_place(text, letters)
        except PlaceInvalid as error:
            message = f"{quoted(text)} is not a latitude and a longitude. {error}"
            raise GeometryInvalid([unreadable_geometry(message, "wrong_position")]) from None
        return _point([place.x, place.y], place.srid, place.letter)


class PointColumns(GeometryColumns):
    """A column with longitudes and one with latitudes; or x and y, which can be anything, perhaps
    with a column of UTM zones."""

    def __init__(
        self, x: int, y: int, names: Sequence[str], *, are_degrees: bool, zone: int | None = None
    ) -> None:
        self.columns = (x, y)
        self._names = (names[x], names[y])
        self.mapping = (
            {"latitude": names[y], "longitude": names[x]}
            if are_degrees
            else {"easting": names[x], "northing": names[y]}
        )
        self.zone = zone
        codes = {code and int(code[0]) for code in map(_EPSG_CODE.search, self._names)}
        self._srid = codes.pop() if len(codes) == 1 else None
        if zone is not None:
            self.mapping["zone"] = names[zone]
            self.note = f"The UTM zones are from {quoted(names[zone])}."
        elif not are_degrees and self._srid is None:
            self.assumption = (
                f"{quoted(names[x])} and {quoted(names[y])} were taken for longitude and latitude "
                "in degrees. If they are meters, say in which coordinate system."
            )

    def read(self, row: Row, letters: Letters) -> ReadGeometry | None:
        first, second = self.columns
        x, y, letter = read_number(row[first]), read_number(row[second]), ""
        if x is None or y is None or self.sides:  # seldom
            texts = [row[first].strip(), row[second].strip()]
            if not any(texts):
                return None
            if self.sides and all(texts):
                texts = [
                    f"{text} {row[side]}" for text, side in zip(texts, self.sides, strict=True)
                ]
            (x, y), letter = self._written(texts, letters)
        if self.zone is None:
            return _point([x, y], self._srid, letter)
        try:
            return _point([x, y], *read_system(row[self.zone], y, letters))
        except PlaceInvalid as error:
            raise GeometryInvalid([unreadable_geometry(str(error), "wrong_crs")]) from None

    def _written(self, texts: Sequence[str], letters: Letters) -> tuple[list[float], str]:
        """The numbers of two texts, and a letter with two meanings."""
        position, letter = [], ""
        for name, text, axis in zip(self._names, texts, _AXES, strict=True):
            if not text:
                message = f"{quoted(name)} is empty, and the other number of the position is not."
                raise GeometryInvalid([unreadable_geometry(message, "wrong_position")])
            number = read_number(text)
            if number is None and text.count(",") == 1:
                number = read_number(text.replace(",", "."))
            if number is None:
                try:
                    degrees = read_degrees(text, axis, letters)
                except PlaceInvalid as error:
                    message = f"{quoted(name)} is not a number: {quoted(text)}. {error}"
                    problem = unreadable_geometry(message, "not_a_number")
                    raise GeometryInvalid([problem]) from None
                number, letter = degrees.value, letter or degrees.letter
            position.append(number)
        return position, letter


_AXES: Final[tuple[Axis, Axis]] = ("longitude", "latitude")


def _point(position: list[float], srid: int | None, letter: str) -> ReadGeometry:
    geometry = {"type": "Point", "coordinates": position}
    return ReadGeometry(geometry, srid, 1, is_flat=True, letter=letter)


def find_geometry(names: Sequence[str], sample: Sequence[Row]) -> list[GeometryColumns]:
    """The columns with the geometries of a file, by their names and by what is in them: the
    likeliest first, then others of the same kind.

    Args:
        names: of all columns.
        sample: its first rows.
    """
    keys = [heading_words(_EPSG_CODE.sub("", name)) for name in names]
    joined = {"".join(words): column for column, words in reversed([*enumerate(keys)])}
    texts = [_texts(sample, column) for column in range(len(names))]
    points = _points(names, keys, joined, texts)
    usual = [joined[name] for name in usual_headings("geometry") if name in joined]
    named = [column for column in usual if any(map(looks_like_geometry, texts[column]))]
    if columns := [*dict.fromkeys([*named, *_all(texts, _is_surely_geometry)])]:
        column_points = points[0] if points else None
        return [
            _with_points(TextColumn(column, names[column]), column_points, names, sample)
            for column in columns
        ]
    if columns := _all(texts, is_survey):
        surveyed = [SurveyColumn(column, names[column]) for column in columns]
        return [*surveyed, *points]
    if points:
        return list(points)
    of_positions = usual_headings("position")
    can_be = [any(word in plain_heading(name) for word in of_positions) for name in names]
    likely = [each if can_be[n] else [] for n, each in enumerate(texts)]
    columns = _all(likely, lambda text: _place(text) is not None) or _all(
        texts, lambda text: (place := _place(text)) is not None and place.is_certain
    )
    return [PairColumn(column, names[column], texts[column]) for column in columns] or [
        NoGeometry()
    ]


def _points(
    names: Sequence[str],
    keys: Sequence[tuple[str, ...]],
    joined: Mapping[str, int],
    texts: Sequence[list[str]],
) -> list[PointColumns]:
    """The columns that have points by their names."""
    if pairs := _longitudes_and_latitudes(keys):
        return [_degree_columns(*pair, names, texts) for pair in pairs]
    coded = [("e", "n")] if any(map(_EPSG_CODE.search, names)) else []
    for x, y in (*_X_AND_Y, *coded):
        if x in joined and y in joined and "west" not in joined:  # and no box
            codes = (n for n, words in enumerate(keys) if "epsg" in words)
            zone = next((joined[name] for name in _ZONES if name in joined), next(codes, None))
            if zone is not None and not all(map(_is_system, texts[zone])):
                zone = None
            return [PointColumns(joined[x], joined[y], names, are_degrees=False, zone=zone)]
    return []


def _degree_columns(
    x: int, y: int, names: Sequence[str], texts: Sequence[list[str]]
) -> PointColumns:
    """Longitude and latitude, perhaps each with a letter in the next column."""
    columns, sides = PointColumns(x, y, names, are_degrees=True), (x + 1, y + 1)
    if max(sides) < len(names) and all(
        texts[side] and {*map(str.upper, texts[side])} <= {*letters}
        for side, letters in zip(sides, ("EWO", "NS"), strict=True)
    ):
        columns.sides = sides
    return columns


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
        all_texts = [_texts(sample, column) for column in range(len(names))]
        return _degree_columns(places["longitude"], places["latitude"], names, all_texts)
    if "easting" in places:
        x, y, zone = places["easting"], places["northing"], places.get("zone")
        return PointColumns(x, y, names, are_degrees=False, zone=zone)
    column = places["geometry"]
    texts = _texts(sample, column)
    if any(map(looks_like_geometry, texts)):
        keys = [heading_words(name) for name in names]
        points = _longitudes_and_latitudes(keys)
        pair = PointColumns(*points[0], names, are_degrees=True) if points else None
        return _with_points(TextColumn(column, names[column]), pair, names, sample)
    if any(map(is_survey, texts)):
        return SurveyColumn(column, names[column])
    if any(map(_place, texts)):
        return PairColumn(column, names[column], texts)
    raise FileInvalid(
        f"{quoted(names[column])} has no geometries. They can be WKT, GeoJSON, places of ODK or "
        "Kobo, or latitude and longitude together."
    )


def _texts(sample: Sequence[Row], column: int) -> list[str]:
    """The beginnings of what a column has in some rows."""
    texts = (row[column].strip() for row in sample if column < len(row))
    return list(filter(None, texts))


def _all(texts: Sequence[list[str]], is_kind: Callable[[str], bool]) -> list[int]:
    """The columns that have texts, all of a kind."""
    return [n for n, each in enumerate(texts) if each and all(map(is_kind, each))]


def _is_surely_geometry(text: str) -> bool:
    """True for the text of a geometry, also where the name of its column does not say so."""
    is_other_object = text.startswith("{") and not _GEOJSON.search(text)
    return looks_like_geometry(text) and not is_other_object


def usual_letters(
    geometry: GeometryColumns, names: Sequence[str], sample: Sequence[Row]
) -> tuple[Letters, list[str]]:
    """What letters with two meanings mean in a file, and a note about each: by the other letters
    beside them, else by the language of the headings."""
    columns = (*geometry.columns, *geometry.sides)
    texts = [row[column] for row in sample for column in columns if column < len(row)]
    used = {letter for text in texts for letter in written_letters(text)}
    notes, east = [], None
    if "O" in used:
        languages = languages_of(names) - _TELLS_NOTHING
        if ("E" in used) != ("W" in used):
            east = "W" in used
            notes.append(_note_on_o(east, f"as the file has {'W' if east else 'E'} as well"))
        elif languages and (languages <= _O_IS_EAST or languages <= _O_IS_WEST):
            east = languages <= _O_IS_EAST
            notes.append(_note_on_o(east, "by the language of the headings"))
    if geometry.zone is not None:
        texts = [row[geometry.zone] for row in sample if geometry.zone < len(row)]
    bands = set(map(names_bands, texts)) - {None}
    zone = ("band" if True in bands else "hemisphere") if len(bands) == 1 else None
    return Letters(None if east is None else "east" if east else "west", zone), notes


def _note_on_o(is_east: bool, reason: str) -> str:
    return f"“O” was read as {'east' if is_east else 'west'}, {reason}."


def _place(text: str) -> Place | None:
    try:
        return read_place(text)
    except PlaceInvalid:
        return None


def _is_system(text: str) -> bool:
    try:
        return bool(read_system(text, 0))
    except PlaceInvalid:
        return False


def can_be_geometry(name: str) -> bool:
    """True if a column of this name can have geometries as text."""
    return plain_heading(name) in usual_headings("geometry")


def looks_like_geometry(text: str) -> bool:
    return is_geometry(text[:LOOKED_AT])


def _longitudes_and_latitudes(keys: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
    """The pairs of columns whose names are the same but for the last words, the shortest names
    first. Else the only column with such a word of each kind."""
    found: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for column, words in enumerate(keys):
        for start in range(len(words)):
            kind = _KINDS.get("".join(words[start:]))
            if kind:
                found.setdefault(words[:start], {"x": [], "y": []})[kind].append(column)
                break
    pairs = [
        pair
        for before in sorted(found, key=len)
        for pair in zip(found[before]["x"], found[before]["y"], strict=False)
    ]
    columns = [[n for both in found.values() for n in both[kind]] for kind in "xy"]
    return pairs or ([(columns[0][0], columns[1][0])] if [*map(len, columns)] == [1, 1] else [])
