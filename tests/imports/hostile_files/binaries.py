"""Shapefiles and GeoPackages that lie about their lengths, or have more in them than rows."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import shapely

from tests.formats.readers.geopackages import blob, one_square
from tests.formats.readers.shapefiles import SQUARE, dbf, header, packed, parts, point, shp
from tests.imports.hostile_files.kinds import HostileFile, Makers

_HUGE: Final = 2**31 - 1
_VIEW: Final = (
    "INSERT INTO gpkg_contents(table_name, data_type, identifier) VALUES ('a', 'features', 'a')",
    "INSERT INTO gpkg_geometry_columns VALUES ('a', 'geom', 'POLYGON', 4326, 0, 0)",
    "DELETE FROM gpkg_contents WHERE table_name = 'forests'",
    "DELETE FROM gpkg_geometry_columns WHERE table_name = 'forests'",
)
_ENDLESS: Final = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
_MANY: Final = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "


def _shapefile(**members: bytes) -> Callable[[Makers], bytes]:
    return lambda makers: packed(makers.folder, **members).read_bytes()


def _record(length: int, content: bytes) -> bytes:
    """A .shp file whose only record says that it has so many words."""
    return header(108 + len(content)) + struct.pack(">2i", 1, length) + content


def _geopackage(*statements: Any) -> Callable[[Makers], bytes]:
    """One with a square, after some SQL."""

    def make(makers: Makers) -> bytes:
        filled = [makers.baited(each) if isinstance(each, str) else each for each in statements]
        return one_square(makers.folder, *filled).read_bytes()

    return make


def _defined(sql: str) -> Callable[[Makers], bytes]:
    """One whose only layer is what a definition says, which no SQLite here could make."""

    def make(makers: Makers) -> bytes:
        path = Path(one_square(makers.folder, *_VIEW))
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            row = ["table", "a", "a", 0, makers.baited(sql)]
            connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
        return path.read_bytes()

    return make


def _pages(makers: Makers) -> bytes:
    """One whose header says that it has 4 billion pages of 64 KB."""
    content = bytearray(_geopackage()(makers))
    content[28:32] = struct.pack(">I", 2**32 - 1)
    return bytes(content)


def _wide(makers: Makers) -> bytes:
    """As many layers as there may be, of 490 columns with long names."""
    columns = ", ".join(f'"{n:03}{"x" * 900}"' for n in range(490))
    statements = []
    for number in range(99):
        statements += [
            f"CREATE TABLE l{number} (fid INTEGER PRIMARY KEY, geom POLYGON, {columns})",
            "INSERT INTO gpkg_contents(table_name, data_type, identifier) "
            f"VALUES ('l{number}', 'features', 'l{number}')",
            "INSERT INTO gpkg_geometry_columns "
            f"VALUES ('l{number}', 'geom', 'POLYGON', 4326, 0, 0)",
        ]
    return _geopackage(*statements)(makers)


_POINT: Final = blob(shapely.Point(1, 2).wkb)
_RINGS: Final = blob(struct.pack("<BIII", 1, 3, 2**32 - 1, 2**32 - 1))
_ROWS: Final = dbf([(b"name", "C", 80, 0)], b" " + b"a".ljust(80))
_TWO_BILLION: Final = shp(struct.pack("<i4d2i", 5, 0, 0, 0, 0, _HUGE, 4) + bytes(200))
_FOUR_BILLION: Final = dbf([(b"a", "C", 9, 0)], count=2**32 - 1)


def _view(expression: str) -> Callable[[Makers], bytes]:
    return _geopackage(*_VIEW, f"CREATE VIEW a AS {expression}")


def _url_prj(makers: Makers) -> bytes:
    url = makers.bait.url.encode()
    return packed(makers.folder, shp=shp(parts(SQUARE)), prj=url).read_bytes()


_CSV: Final = "CREATE VIRTUAL TABLE a USING csv(filename='{file}')"
_TEXT: Final = "CREATE VIRTUAL TABLE a USING VirtualText('{file}', 'UTF-8', 1, COMMA)"
_TRIGGER: Final = (
    "CREATE TRIGGER t AFTER INSERT ON forests BEGIN SELECT load_extension('{file}'); END"
)
_POINTS: Final = (f"INSERT INTO forests(geom) {_MANY.format(10**6)} SELECT ? FROM n", [_POINT])

BINARIES: Final = tuple(
    HostileFile(*each)
    for each in (
        ("shapefile, huge length", _shapefile(shp=_record(_HUGE, point(1, 2))), "damaged"),
        ("shapefile, 2 billion rings", _shapefile(shp=_TWO_BILLION), ""),
        ("shapefile, 4 billion rows", _shapefile(shp=shp(point(1, 2)), dbf=_FOUR_BILLION), ""),
        (
            "shapefile, encoding that unpacks",
            _shapefile(shp=shp(point(1, 2)), dbf=_ROWS, cpg=b"zlib"),
            "",
        ),
        ("shapefile, .prj of a URL", _url_prj, ""),
        ("GeoPackage, VirtualText", _defined(_TEXT), "", "a.gpkg"),
        ("GeoPackage, virtual table csv", _defined(_CSV), "", "a.gpkg"),
        (
            "GeoPackage, view that loads code",
            _view("SELECT geom, load_extension('{file}') n FROM forests"),
            "",
        ),
        (
            "GeoPackage, view that reads a file",
            _view("SELECT geom, readfile('{file}') n FROM forests"),
            "",
        ),
        ("GeoPackage, endless view", _view(f"{_ENDLESS} SELECT i AS fid, NULL AS geom FROM n"), ""),
        (
            "GeoPackage, endless computed column",
            _geopackage("ALTER TABLE forests ADD b AS (length(hex(zeroblob(500000000))))"),
            "",
        ),
        ("GeoPackage, triggers", _geopackage(_TRIGGER), ""),
        ("GeoPackage of 4 billion pages", _pages, ""),
        (
            "GeoPackage, 4 billion rings",
            _geopackage(("UPDATE forests SET geom = ?", [_RINGS])),
            "",
        ),
        (
            "GeoPackage, a value of 45 MB",
            _geopackage("UPDATE forests SET name = zeroblob(45000000)"),
            "larger than 32 MiB",
            "upload",
            True,
        ),
        ("GeoPackage, 1,000,000 rows", _geopackage(_POINTS), "50,000", "upload", True),
        ("GeoPackage, layers of long columns", _wide, "Split it into several", "upload", True),
    )
)
