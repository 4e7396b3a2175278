"""GeoPackage 1.3 (OGC 12-128r17): an SQLite database with one table of features and an index of
their boxes."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Final

from app.formats.writers import gpkg_tables
from app.formats.writers.columns import Column, Table, unique_names
from app.formats.writers.features import Feature, FeatureType
from app.formats.writers.shapes import Ring, Shape, read_shape
from app.formats.writers.source import FeatureSource
from app.formats.writers.temporary import new_database
from app.geometry import Bounds, box_around
from app.policy import kinds

_TYPES: Final = {
    "integer": "INTEGER",
    "number": "REAL",
    "boolean": "BOOLEAN",
    "time": "DATETIME",
}

# The header of a geometry: little-endian, with its box in two dimensions.
_HEADER: Final = struct.Struct("<2sBBi4d")
_FLAGS: Final = 0b00000011
_HEIGHTS: Final = 1000  # added to the type of a geometry (ISO 13249-3)


class _Extent:
    """The box around all geometries. ``has_heights``: any of them has heights."""

    def __init__(self) -> None:
        self.box: Bounds | None = None
        self.has_heights = False

    def add(self, box: Bounds, has_heights: bool) -> None:
        self.box = box_around(self.box, box)
        self.has_heights |= has_heights


def write_gpkg(source: FeatureSource, folder: Path) -> IO[bytes]:
    """Write the file. Boundaries become MultiPolygons: a table has one type.

    Args:
        folder: where it is written.

    Returns:
        The file, at its beginning.

    Raises:
        OSError: there is no room for it.
    """
    table, layer = Table(source), source.type
    with new_database(folder) as (connection, file):
        gpkg_tables.create_tables(
            connection, layer.name, _column_definitions(table.columns), _geometry_kind(layer)
        )
        connection.execute("BEGIN")
        extent = _insert_features(connection, layer, table, source.features())
        connection.execute("COMMIT")
        gpkg_tables.finish_tables(connection, layer.name, extent.box, extent.has_heights)
    file.seek(0)
    return file


def _geometry_kind(layer: FeatureType) -> str:
    return "POINT" if layer.geometry.kind is kinds.POINT else "MULTIPOLYGON"


def _column_definitions(columns: Sequence[Column]) -> list[tuple[str, str]]:
    """The name and the type of each column."""
    names = unique_names((column.name for column in columns), gpkg_tables.OWN_COLUMNS)
    types = (_TYPES.get(column.type, "TEXT") for column in columns)
    return list(zip(names, types, strict=True))


def _insert_features(
    connection: sqlite3.Connection, layer: FeatureType, table: Table, features: Iterator[Feature]
) -> _Extent:
    extent = _Extent()
    marks = ", ".join("?" * (2 + len(table.columns)))
    row = f'INSERT INTO "{layer.name}" VALUES ({marks})'  # noqa: S608 - one of two names
    insert_box = gpkg_tables.insert_box_sql(layer.name)
    for number, feature in enumerate(features, 1):
        blob = None
        if feature.geometry is not None:
            shape = read_shape(feature.geometry)
            box = shape.box()
            blob = _geometry_blob(shape, box)
            extent.add(box, shape.has_heights)
            connection.execute(insert_box, (number, *box))
        connection.execute(row, (number, blob, *table.row(feature)))
    return extent


def _geometry_blob(shape: Shape, box: Bounds) -> bytes:
    """The GeoPackage encoding of a geometry: a header, then well-known binary."""
    sides = box.west, box.east, box.south, box.north
    header = _HEADER.pack(b"GP", 0, _FLAGS, gpkg_tables.WGS84, *sides)
    pieces = _point_wkb(shape) if shape.type == "Point" else _multipolygon_wkb(shape)
    return b"".join((header, *pieces))


def _point_wkb(shape: Shape) -> Iterator[bytes]:
    yield _wkb_start(1, shape) + struct.pack(f"<{len(shape.position)}d", *shape.position)


def _multipolygon_wkb(shape: Shape) -> Iterator[bytes]:
    yield _wkb_start(6, shape) + struct.pack("<I", len(shape.parts))
    for part in shape.parts:
        yield _wkb_start(3, shape) + struct.pack("<I", len(part))
        yield from map(_ring_wkb, part)


def _ring_wkb(ring: Ring) -> bytes:
    ordinates = list(chain.from_iterable(ring))
    return struct.pack(f"<I{len(ordinates)}d", len(ring), *ordinates)


def _wkb_start(kind: int, shape: Shape) -> bytes:
    return struct.pack("<BI", 1, kind + (_HEIGHTS if shape.has_heights else 0))
