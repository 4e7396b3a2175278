"""Finding the columns of a CSV file that have the geometries, and reading that of a row."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Container, Sequence
from typing import Final

from app.formats.positions import unreadable
from app.formats.readers.bounds import shown
from app.formats.readers.csv_rows import Row
from app.formats.readers.geometry_text import ReadGeometry, is_geometry, read_geometry_text
from app.formats.readers.ordinates import read_number
from app.geometry.problems import GeometryInvalid

_GEOMETRIES: Final = (
    *("geometry", "geom", "the_geom", "wkt", "wkb", "geojson", "shape"),
    *("wkt_geom", "wkb_geometry", "geometry_wkt", "geom_wkt", "st_astext", "st_asewkt"),
    *("st_asgeojson", "geometrie", "geometria"),
)
# Words at the end of a column's name; what is before them is the same in both columns.
_LATITUDES: Final = frozenset(
    {"latitude", "lat", "decimallatitude", "latitud", "latitudine", "breite", "breitengrad"}
)
_LONGITUDES: Final = frozenset(
    {"longitude", "lon", "lng", "long", "decimallongitude", "longitud", "longitudine"}
    | {"laenge", "länge", "laengengrad", "längengrad"}
)
# Names that stand for a position in any system, so that they have to be the whole name.
_X_AND_Y: Final = (
    *(("x", "y"), ("point_x", "point_y"), ("x_coord", "y_coord"), ("coord_x", "coord_y")),
    *(("xcoord", "ycoord"), ("easting", "northing"), ("rechtswert", "hochwert")),
    *(("ostwert", "nordwert"), ("utm_e", "utm_n"), ("utm_x", "utm_y")),
)
_SEXAGESIMAL: Final = re.compile("[0-9] *[°º'′]")  # degrees or minutes
_LOOKED_AT: Final = 300  # characters at the beginning of a text


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
        "No column has geometries. Name one “geometry”, with WKT or GeoJSON in it, or two of them "
        "“latitude” and “longitude”."
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


class PointColumns(GeometryColumns):
    """A column with longitudes and one with latitudes; or x and y, which can be anything."""

    def __init__(self, x: int, y: int, names: Sequence[str], *, are_degrees: bool) -> None:
        self.columns = (x, y)
        self._names = (names[x], names[y])
        if not are_degrees:
            self.assumption = (
                f"{shown(names[x])} and {shown(names[y])} were taken for longitude and latitude in "
                "degrees. If they are meters, set crs."
            )

    def read(self, row: Row) -> ReadGeometry | None:
        texts = [row[column].strip() for column in self.columns]
        if not any(texts):
            return None
        position = []
        for name, text in zip(self._names, texts, strict=True):
            if not text:
                message = f"{shown(name)} is empty, and the other number of the position is not."
                raise GeometryInvalid([unreadable(message, "wrong_position")])
            number = read_number(text.replace(",", ".") if text.count(",") == 1 else text)
            if number is None:
                advice = " Write decimal degrees." if _SEXAGESIMAL.search(text) else ""
                message = f"{shown(name)} is not a number: {shown(text)}.{advice}"
                raise GeometryInvalid([unreadable(message, "not_a_number")])
            position.append(number)
        return ReadGeometry({"type": "Point", "coordinates": position}, None, 1, is_flat=True)


def find_geometry(names: Sequence[str], with_geometries: Container[int]) -> GeometryColumns:
    """The columns with the geometries of a file.

    Args:
        names: of all columns.
        with_geometries: the numbers, from 0, of the columns whose texts look like geometries.
    """
    keys = [_words(name) for name in names]
    joined = {"_".join(words): column for column, words in reversed([*enumerate(keys)])}
    for name in _GEOMETRIES:
        if (column := joined.get(name)) is not None and column in with_geometries:
            return TextColumn(column)
    if found := _longitude_and_latitude(keys):
        return PointColumns(*found, names, are_degrees=True)
    for x, y in _X_AND_Y:
        if x in joined and y in joined:
            return PointColumns(joined[x], joined[y], names, are_degrees=False)
    return NoGeometry()


def can_be_geometry(name: str) -> bool:
    """True if a column of this name can have geometries as text."""
    return "_".join(_words(name)) in _GEOMETRIES


def looks_like_geometry(text: str) -> bool:
    return is_geometry(text[:_LOOKED_AT])


def _words(name: str) -> tuple[str, ...]:
    """The words of a name, except those that only mean degrees."""
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", name).casefold())
    return tuple(word for word in words if word not in ("wgs84", "dd", "deg")) or (name,)


def _longitude_and_latitude(keys: Sequence[tuple[str, ...]]) -> tuple[int, int] | None:
    """The two columns whose names are the same but for the last word; of several, the shortest
    names."""
    found: dict[tuple[str, ...], dict[str, int]] = {}
    for column, (*before, last) in enumerate(keys):
        kind = "x" if last in _LONGITUDES else "y" if last in _LATITUDES else None
        if kind:
            found.setdefault(tuple(before), {}).setdefault(kind, column)
    pairs = [before for before, both in found.items() if len(both) == 2]
    if not pairs:
        return None
    both = found[min(pairs, key=len)]
    return both["x"], both["y"]
