"""GeoPackage 1.3 (OGC 12-128r17): an SQLite database with one table of features, and an index of
their boxes (its annex F.3)."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Final

from app.formats.readers.sqlite_file import quoted_identifier
from app.formats.writers.columns import Table, unique_names
from app.formats.writers.shapes import Ring, Shape, read_shape
from app.formats.writers.source import FeatureSource
from app.formats.writers.temporary import new_database
from app.geometry import Bounds, box_around
from app.policy import kinds

_APPLICATION_ID: Final = 0x47504B47  # "GPKG"
_VERSION: Final = 10300
_WGS84: Final = 4326
_OWN_COLUMNS: Final = ("fid", "geom")  # the first two of the table of features

_DEFINITION: Final = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,'
    'AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,'
    'AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],'
    'AUTHORITY["EPSG","4326"]]'
)
_SYSTEMS: Final = (
    ("Undefined Cartesian", -1, "NONE", -1, "undefined", None),
    ("Undefined geographic", 0, "NONE", 0, "undefined", None),
    ("WGS 84", _WGS84, "EPSG", 4326, _DEFINITION, "longitude and latitude in degrees"),
)
_TABLES: Final = (
    """CREATE TABLE gpkg_spatial_ref_sys (
        srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
        organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT)""",
    """CREATE TABLE gpkg_contents (
        table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
        description TEXT DEFAULT '',
        last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
        min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER,
        CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id))""",
    """CREATE TABLE gpkg_geometry_columns (
        table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
        srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL,
        CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
        CONSTRAINT uk_gc_table_name UNIQUE (table_name),
        CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
        CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id))""",
    """CREATE TABLE gpkg_extensions (
        table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL,
        scope TEXT NOT NULL,
        CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name))""",
)
_RTREE: Final = ("gpkg_rtree_index", "http://www.geopackage.org/spec120/#extension_rtree")
_HAS: Final = 'NEW."geom" NOTNULL AND NOT ST_IsEmpty(NEW."geom")'
_HAS_NOT: Final = 'NEW."geom" ISNULL OR ST_IsEmpty(NEW."geom")'
_BOX: Final = (
    'NEW."fid", ST_MinX(NEW."geom"), ST_MaxX(NEW."geom"), ST_MinY(NEW."geom"), ST_MaxY(NEW."geom")'
)
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


def write_gpkg(source: FeatureSource, folder: Path) -> IO[bytes]:
    """Write the file. Boundaries become MultiPolygons: a table has one type.

    Args:
        folder: where it is written.

    Returns:
        The file, at its beginning.

    Raises:
        OSError: there is no room for it.
    """
    table, name = Table(source), source.type.name
    kind = "POINT" if source.type.geometry.kind is kinds.POINT else "MULTIPOLYGON"
    with new_database(folder) as (connection, file):
        _create_tables(connection, name, kind, table)
        connection.execute("BEGIN")
        _insert_features(connection, source, table)
        connection.execute("COMMIT")
        for statement in _rtree_triggers(name, f"rtree_{name}_geom"):
            connection.execute(statement)
    file.seek(0)
    return file


def _create_tables(connection: sqlite3.Connection, name: str, kind: str, table: Table) -> None:
    """Create the tables of a GeoPackage, with one of this name for features with geometries of this
    kind."""
    connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={_VERSION}")
    for statement in _TABLES:
        connection.execute(statement)
    connection.executemany("INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, ?)", _SYSTEMS)
    names = unique_names((column.name for column in table.columns), _OWN_COLUMNS)
    others = "".join(
        f", {quoted_identifier(column)} {_TYPES.get(of_table.type, 'TEXT')}"
        for column, of_table in zip(names, table.columns, strict=True)
    )
    connection.execute(
        f'CREATE TABLE "{name}" (fid INTEGER PRIMARY KEY NOT NULL, geom {kind}{others})'
    )
    connection.execute(
        f'CREATE VIRTUAL TABLE "rtree_{name}_geom" USING rtree(id, minx, maxx, miny, maxy)'
    )
    connection.execute(
        "INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id)"
        " VALUES (?, 'features', ?, ?)",
        (name, name, _WGS84),
    )
    connection.execute(
        "INSERT INTO gpkg_geometry_columns VALUES (?, 'geom', ?, ?, 0, 0)", (name, kind, _WGS84)
    )
    connection.execute(
        "INSERT INTO gpkg_extensions VALUES (?, 'geom', ?, ?, 'write-only')", (name, *_RTREE)
    )


def _insert_features(connection: sqlite3.Connection, source: FeatureSource, table: Table) -> None:
    """Insert all features, their boxes, and the box around all of them."""
    name, extent, has_heights = source.type.name, None, False
    marks = ", ".join("?" * (2 + len(table.columns)))
    row = f'INSERT INTO "{name}" VALUES ({marks})'  # noqa: S608 - one of two names
    columns = "id, minx, miny, maxx, maxy"
    index = f'INSERT INTO "rtree_{name}_geom" ({columns}) VALUES (?, ?, ?, ?, ?)'  # noqa: S608 - as above
    for number, feature in enumerate(source.features(), 1):
        blob = None
        if feature.geometry is not None:
            shape = read_shape(feature.geometry)
            box = shape.box()
            blob = _geometry_blob(shape, box)
            extent = box_around(extent, box)
            has_heights |= shape.has_heights
            connection.execute(index, (number, *box))
        connection.execute(row, (number, blob, *table.row(feature)))
    if extent is not None:
        sides = "min_x = ?, min_y = ?, max_x = ?, max_y = ?"
        connection.execute(f"UPDATE gpkg_contents SET {sides}", extent)  # noqa: S608 - as above
    if has_heights:
        connection.execute("UPDATE gpkg_geometry_columns SET z = 2")  # some have them


def _geometry_blob(shape: Shape, box: Bounds) -> bytes:
    """The GeoPackage encoding of a geometry: a header, then well-known binary."""
    sides = box.west, box.east, box.south, box.north
    header = _HEADER.pack(b"GP", 0, _FLAGS, _WGS84, *sides)
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


def _rtree_triggers(name: str, index: str) -> Iterator[str]:
    """The triggers of GeoPackage 1.3, which update the index when a program changes the file later.
    They call functions of that program."""
    put = f'INSERT OR REPLACE INTO "{index}" VALUES ({_BOX});'  # noqa: S608 - one of two names
    drop = f'DELETE FROM "{index}" WHERE id = OLD."fid";'  # noqa: S608 - as above
    both = f'DELETE FROM "{index}" WHERE id IN (OLD."fid", NEW."fid");'  # noqa: S608 - as above
    same, moved = 'OLD."fid" = NEW."fid"', 'OLD."fid" != NEW."fid"'
    for suffix, event, when, action in (
        ("insert", "INSERT", _HAS, put),
        ("update1", 'UPDATE OF "geom"', f"{same} AND ({_HAS})", put),
        ("update2", 'UPDATE OF "geom"', f"{same} AND ({_HAS_NOT})", drop),
        ("update3", "UPDATE", f"{moved} AND ({_HAS})", drop + put),
        ("update4", "UPDATE", f"{moved} AND ({_HAS_NOT})", both),
        ("delete", "DELETE", 'OLD."geom" NOTNULL', drop),
    ):
        yield (
            f'CREATE TRIGGER "{index}_{suffix}" AFTER {event} ON "{name}" WHEN {when}'
            f" BEGIN {action} END"
        )
