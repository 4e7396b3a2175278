"""The tables that each GeoPackage has, and the tables of the index of boxes (its annex F.3)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from app.formats.readers.sqlite_file import quoted_identifier
from app.geometry import Bounds

APPLICATION_ID: Final = 0x47504B47  # "GPKG"
VERSION: Final = 10300
WGS84: Final = 4326
OWN_COLUMNS: Final = ("fid", "geom")  # the first two of the table of features

_DEFINITION: Final = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,'
    'AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,'
    'AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],'
    'AUTHORITY["EPSG","4326"]]'
)
_SYSTEMS: Final = (
    ("Undefined Cartesian", -1, "NONE", -1, "undefined", None),
    ("Undefined geographic", 0, "NONE", 0, "undefined", None),
    ("WGS 84", WGS84, "EPSG", 4326, _DEFINITION, "longitude and latitude in degrees"),
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
_VALUES: Final = (
    'NEW."fid", ST_MinX(NEW."geom"), ST_MaxX(NEW."geom"), ST_MinY(NEW."geom"), ST_MaxY(NEW."geom")'
)


def create_tables(
    connection: sqlite3.Connection, name: str, columns: Sequence[tuple[str, str]], kind: str
) -> None:
    """Create the tables of a GeoPackage, with one for features.

    Args:
        name: the name of the table of features.
        columns: the name and the type of each column after ``OWN_COLUMNS``.
        kind: the type of its geometries, such as MULTIPOLYGON.
    """
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={VERSION}")
    for statement in _TABLES:
        connection.execute(statement)
    connection.executemany("INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, ?)", _SYSTEMS)
    others = "".join(
        f", {quoted_identifier(column)} {column_type}" for column, column_type in columns
    )
    connection.execute(
        f'CREATE TABLE "{name}" (fid INTEGER PRIMARY KEY NOT NULL, geom {kind}{others})'
    )
    index = _index_name(name)
    connection.execute(f'CREATE VIRTUAL TABLE "{index}" USING rtree(id, minx, maxx, miny, maxy)')
    connection.execute(
        "INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id)"
        " VALUES (?, 'features', ?, ?)",
        (name, name, WGS84),
    )
    connection.execute(
        "INSERT INTO gpkg_geometry_columns VALUES (?, 'geom', ?, ?, 0, 0)", (name, kind, WGS84)
    )
    connection.execute(
        "INSERT INTO gpkg_extensions VALUES (?, 'geom', ?, ?, 'write-only')", (name, *_RTREE)
    )


def insert_box_sql(name: str) -> str:
    """The statement that adds a box to the index: fid, west, south, east, north."""
    columns = "id, minx, miny, maxx, maxy"
    return f'INSERT INTO "{_index_name(name)}" ({columns}) VALUES (?, ?, ?, ?, ?)'  # noqa: S608 - one of two names


def finish_tables(
    connection: sqlite3.Connection,
    name: str,
    box: Bounds | None,
    has_heights: bool,
) -> None:
    """Write the extent after all features, and create the triggers that update the index when a
    program changes the file later."""
    if box is not None:
        connection.execute(
            "UPDATE gpkg_contents SET min_x = ?, min_y = ?, max_x = ?, max_y = ?", box
        )
    if has_heights:
        connection.execute("UPDATE gpkg_geometry_columns SET z = 2")  # some have them
    for statement in _rtree_triggers(name, _index_name(name)):
        connection.execute(statement)


def _rtree_triggers(name: str, index: str) -> Iterator[str]:
    """The triggers of GeoPackage 1.3. They call functions of the program that opens the file."""
    put = f'INSERT OR REPLACE INTO "{index}" VALUES ({_VALUES});'  # noqa: S608 - one of two names
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


def _index_name(name: str) -> str:
    return f"rtree_{name}_geom"
