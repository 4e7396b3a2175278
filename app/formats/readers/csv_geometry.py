"""Finding the columns of a CSV file that have the geometries, and reading a row's geometry."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
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
    attempt,
    read_degrees,
    read_place,
    read_system,
    written_letters,
    zone_meaning,
)
from app.formats.readers.surveys import is_survey, read_survey
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
# What O is in languages: Ost and oost; oeste, ouest and ovest.
_LANGUAGES_OF_O: Final = {"east": {"de", "nl"}, "west": {"ca", "es", "fr", "it", "pt"}}
_TELLS_NOTHING: Final = frozenset({"ro", "sv"})  # share their headings with these, and have no O
_GEOJSON: Final = re.compile(
    r'"type"\s*:\s*"((Multi)?(Point|LineString|Polygon)|GeometryCollection)"'
)
IF_METERS: Final = (
    "longitude and latitude in degrees. If they are meters, say in which coordinate system."
)
LOOKED_AT: Final = 300  # characters at the beginning of a text


class GeometryColumns:
    """The columns that have the geometries of a file; here there are none. ``columns`` are the
    numbers, from 0, of those that have nothing else. ``note`` is for whoever imports, and so is
    ``assumption`` when nobody names the coordinate reference system."""

    columns: tuple[int, ...] = ()
    mapping: Mapping[str, str] = {}  # as for ``FormatReader.choose_geometry``
    zone: int | None = None  # the column of UTM zones
    sides: tuple[int, ...] = ()  # those with E or W, and N or S, of the numbers before them
    note: str | None = (
        "No column has geometries. They can be WKT or GeoJSON, areas and lines of ODK or Kobo, or "
        "latitude and longitude, in one column or two, named “latitude” and “longitude”."
    )
    assumption: str | None = None

    def read(self, row: Row, letters: Letters) -> ReadGeometry | None:
        """The geometry of a row, or None.

        Raises:
            GeometryInvalid: it cannot be read.
        """
        return None


class TextColumn(GeometryColumns):
    """A column with a geometry or a place in each text. ``points`` are the columns with the places
    of rows where it is empty."""

    def __init__(
        self,
        table: Sequence[str],
        name: str,
        read_text: Callable[[str, Letters], ReadGeometry],
        note: str | None = None,
        points: PointColumns | None = None,
    ) -> None:
        """``table``: the names of all columns."""
        self.columns, self.mapping, self.note = (table.index(name),), {"geometry": name}, note
        self._read_text, self._points = read_text, points
        if points:
            self.columns, self.assumption = self.columns + points.columns, points.assumption
            x, y = map(quoted, points.names)
            self.note = f"Where {quoted(name)} is empty, the place is from {x} and {y}."

    def read(self, row: Row, letters: Letters) -> ReadGeometry | None:
        if (text := row[self.columns[0]]).strip():
            return self._read_text(text, letters)
        return self._points.read(row, letters) if self._points else None


class PointColumns(GeometryColumns):
    """A column with longitudes and one with latitudes; or x and y, which can be anything, perhaps
    with a column of UTM zones."""

    def __init__(self, table: Sequence[str], mapping: Mapping[str, str]) -> None:
        """``table``: the names of all columns."""
        self.mapping, self.note = mapping, None
        fields = ("longitude", "latitude") if "latitude" in mapping else ("easting", "northing")
        self.names = tuple(mapping[field] for field in fields)
        self.columns = tuple(map(table.index, self.names))
        codes = {code and int(code[0]) for code in map(_EPSG_CODE.search, self.names)}
        self._srid = codes.pop() if len(codes) == 1 else None
        if zone := mapping.get("zone"):
            self.zone = table.index(zone)
            self.note = f"The UTM zones are from {quoted(zone)}."
        elif "easting" in mapping and self._srid is None:
            x, y = map(quoted, self.names)
            self.assumption = f"{x} and {y} were taken for {IF_METERS}"

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
        for name, text, axis in zip(self.names, texts, _AXES, strict=True):
            if not text:
                message = f"{quoted(name)} is empty, and the other number of the position is not."
                raise GeometryInvalid([unreadable_geometry(message, "wrong_position")])
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


class GeometryTable:
    """The names of the columns of a file and its first rows, in which geometries are found."""

    def __init__(self, names: Sequence[str], sample: Sequence[Row]) -> None:
        self._names = names
        columns = zip_longest(*sample, [""] * len(names), fillvalue="")
        self._texts = {
            name: [*map(str.strip, column)] for name, column in zip(names, columns, strict=False)
        }
        self._words = {name: heading_words(_EPSG_CODE.sub("", name)) for name in names}
        self._joined = {"".join(words): name for name, words in reversed(self._words.items())}
        self._points = self._find_points()

    def find(self) -> list[GeometryColumns]:
        """The columns with the geometries, by their names and by what is in them: the likeliest
        first, then others of the same kind."""
        usual = [self._joined[word] for word in usual_headings("geometry") if word in self._joined]
        named = [name for name in usual if any(map(looks_like_geometry, self._texts[name]))]
        if names := dict.fromkeys([*named, *self._all(_is_surely_geometry)]):
            return [*map(self._geometries, names)]
        if surveys := self._all(is_survey):
            return [*map(self._surveys, surveys), *self._points]
        if self._points:
            return [*self._points]
        positions = usual_headings("position")
        likely = [
            name
            for name in self._all(_place)
            if any(word in plain_heading(name) for word in positions)
        ]
        return [*map(self._places, likely or self._all(_is_certain_place))] or [GeometryColumns()]

    def choose(self, mapping: Mapping[str, str]) -> GeometryColumns:
        """The columns with the geometries, as a person has named them.

        Args:
            mapping: as for ``FormatReader.choose_geometry``.

        Raises:
            FileInvalid: the file has no such column, or one has no geometries.
        """
        for name in mapping.values():
            if name not in self._names:
                names = ", ".join(self._names)
                raise FileInvalid(f"The file has no column {name!r}. It has: {names}.")
        if "geometry" not in mapping:
            return self._point_columns(mapping)
        name = mapping["geometry"]
        for is_kind, columns_of in (
            (looks_like_geometry, self._geometries),
            (is_survey, self._surveys),
            (_place, self._places),
        ):
            if any(map(is_kind, self._texts[name])):
                return columns_of(name)
        raise FileInvalid(
            f"{quoted(name)} has no geometries. They can be WKT, GeoJSON, places of "
            "ODK or Kobo, or latitude and longitude together."
        )

    def letters(self, geometry: GeometryColumns, chosen: Letters) -> tuple[Letters, str | None]:
        """What letters with two meanings mean, and a note where a person has not said what O is: by
        the other letters beside them, else by the language of the headings."""
        columns = (*geometry.columns, *geometry.sides)
        texts = [text for column in columns for text in self._texts[self._names[column]]]
        used = {letter for text in texts for letter in written_letters(text)}
        o, reason = None, "by the language of the headings"
        if "O" in used and len(others := used & {"E", "W"}) == 1:
            o, reason = "east" if "W" in used else "west", f"as the file has {others.pop()} as well"
        elif "O" in used and (spoken := languages_of(self._names) - _TELLS_NOTHING):
            o = next((o for o, languages in _LANGUAGES_OF_O.items() if spoken <= languages), None)
        note = f"“O” was read as {o}, {reason}." if o and not chosen.o else None
        zones = texts if geometry.zone is None else self._texts[self._names[geometry.zone]]
        meanings = {*map(zone_meaning, zones)} - {None}
        zone = meanings.pop() if len(meanings) == 1 else None
        are_used = bool(used & {"N", "S"} and used & {"E", "W", "O"})
        return Letters(chosen.o or o, chosen.zone or zone, are_used), note

    def _geometries(self, name: str) -> TextColumn:
        """A column of geometries, and columns of points if these have what is missing there."""
        points = next(iter(self._points), None)
        if points:
            texts = (self._texts[each] for each in (name, *points.names))
            if not any(not text and x and y for text, x, y in zip(*texts, strict=True)):
                points = None
        return TextColumn(
            self._names, name, lambda text, _: read_geometry_text(text), points=points
        )

    def _surveys(self, name: str) -> TextColumn:
        """A column with points, lines and areas of ODK or Kobo."""
        note = f"{quoted(name)} was read as ODK and Kobo write places, with the latitude first."
        return TextColumn(self._names, name, lambda text, _: read_survey(text), note)

    def _places(self, name: str) -> TextColumn:
        """A column with places in one text each."""
        places = filter(None, map(_place, self._texts[name]))
        written = (
            "places in the zones, squares or systems that it names."
            if next((place.srid for place in places), 4326) != 4326
            else "latitude and longitude, in this order where no letters say another one."
        )
        note = f"{quoted(name)} was read as {written}"
        return TextColumn(self._names, name, _read_place, note)

    def _all(self, is_kind: Callable[[str], object]) -> list[str]:
        """The columns that have texts, all of a kind."""
        return [
            name
            for name, texts in self._texts.items()
            if any(texts) and all(map(is_kind, filter(None, texts)))
        ]

    def _find_points(self) -> list[PointColumns]:
        """The columns that have points by their names."""
        if pairs := self._longitudes_and_latitudes():
            return [self._point_columns({"latitude": y, "longitude": x}) for x, y in pairs]
        coded = [("e", "n")] if any(map(_EPSG_CODE.search, self._names)) else []
        for x, y in (*_X_AND_Y, *coded):
            if {x, y} <= self._joined.keys() and "west" not in self._joined:  # and no box
                mapping = {"easting": self._joined[x], "northing": self._joined[y]}
                zones = [self._joined[word] for word in _ZONES if word in self._joined]
                zones += [name for name, words in self._words.items() if "epsg" in words]
                if zones and all(
                    attempt(read_system, text) for text in self._texts[zones[0]] if text
                ):
                    mapping["zone"] = zones[0]
                return [self._point_columns(mapping)]
        return []

    def _point_columns(self, mapping: Mapping[str, str]) -> PointColumns:
        """The columns of points, degrees perhaps each with a letter in the next column."""
        points = PointColumns(self._names, mapping)
        sides = tuple(column + 1 for column in points.columns)
        if "latitude" in mapping and max(sides) < len(self._names):
            x, y = ({*map(str.upper, self._texts[self._names[side]])} - {""} for side in sides)
            if x and y and x <= {*"EWO"} and y <= {*"NS"}:
                points.sides = sides
        return points

    def _longitudes_and_latitudes(self) -> list[tuple[str, str]]:
        """The pairs of columns whose names are the same but for the last words, the shortest names
        first. Else the only column with such a word of each kind."""
        found: dict[str, dict[tuple[str, ...], list[str]]] = {"x": {}, "y": {}}
        for name, words in self._words.items():
            for start in range(len(words)):
                if kind := _KINDS.get("".join(words[start:])):
                    found[kind].setdefault(words[:start], []).append(name)
                    break
        xs, ys = found.values()
        pairs = [
            pair
            for before in sorted(xs, key=len)
            for pair in zip(xs[before], ys.get(before, ()), strict=False)
        ]
        x, y = ([*chain.from_iterable(each.values())] for each in (xs, ys))
        return pairs or ([(x[0], y[0])] if len(x) == len(y) == 1 else [])


def _point(position: list[float], srid: int | None, letter: str) -> ReadGeometry:
    geometry = {"type": "Point", "coordinates": position}
    return ReadGeometry(geometry, srid, 1, is_flat=True, letter=letter)


def _read_place(text: str, letters: Letters) -> ReadGeometry:
    try:
        place = read_place(text, letters)
    except PlaceInvalid as error:
        message = f"{quoted(text)} is not a latitude and a longitude. {error}"
        raise GeometryInvalid([unreadable_geometry(message, "wrong_position")]) from None
    return _point([place.x, place.y], place.srid, place.letter)


def _place(text: str) -> Place | None:
    return attempt(read_place, text)


def _is_certain_place(text: str) -> bool:
    place = _place(text)
    return place is not None and place.is_certain


def _is_surely_geometry(text: str) -> bool:
    """True for the text of a geometry, also where the name of its column does not say so."""
    is_other_object = text.startswith("{") and not _GEOJSON.search(text)
    return looks_like_geometry(text) and not is_other_object


def can_be_geometry(name: str) -> bool:
    """True if a column of this name can have geometries as text."""
    return plain_heading(name) in usual_headings("geometry")


def looks_like_geometry(text: str) -> bool:
    return is_geometry(text[:LOOKED_AT])
