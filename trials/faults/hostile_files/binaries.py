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
from trials.faults.hostile_files.kinds import HostileFile, Makers

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


def _rings(rings: int, points: int) -> bytes:
    """A polygon that says it has so many rings and positions."""
    return shp(struct.pack("<i4d2i", 5, 0, 0, 0, 0, rings, points) + bytes(200))


def _geopackage(*statements: Any) -> Callable[[Makers], bytes]:
    """One with a square, after some SQL. ``{file}`` and ``{url}`` are the bait's."""

    def make(makers: Makers) -> bytes:
        filled = [
            each.replace("{file}", str(makers.bait.file)).replace("{url}", makers.bait.url)
            if isinstance(each, str)
            else each
            for each in statements
        ]
        return one_square(makers.folder, *filled).read_bytes()

    return make


def _defined(sql: str) -> Callable[[Makers], bytes]:
    """One whose only layer is what a definition says, which no SQLite here could make."""

    def make(makers: Makers) -> bytes:
        path = Path(one_square(makers.folder, *_VIEW))
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            definition = sql.replace("{file}", str(makers.bait.file))
            row = ["table", "a", "a", 0, definition]
            connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
        return path.read_bytes()

    return make


def _pages(makers: Makers) -> bytes:
    """One whose header says that it has 4 billion pages of 64 KB."""
    content = bytearray(_geopackage()(makers))
    content[28:32] = struct.pack(">I", 2**32 - 1)
    return bytes(content)


def _noise(makers: Makers) -> bytes:
    """One whose pages are overwritten after the first ones."""
    content = bytearray(_geopackage()(makers))
    content[8192:] = bytes(n * 7 % 256 for n in range(len(content) - 8192))
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
_NAN: Final = blob(struct.pack("<BI2d", 1, 1, float("nan"), float("inf")))
_RINGS: Final = blob(struct.pack("<BIII", 1, 3, 2**32 - 1, 2**32 - 1))
_ROWS: Final = dbf([(b"name", "C", 80, 0)], b" " + b"a".ljust(80))

BINARIES: Final = (
    HostileFile("shapefile, negative length", _shapefile(shp=_record(-1, point(1, 2))), "damaged"),
    HostileFile("shapefile, huge length", _shapefile(shp=_record(_HUGE, point(1, 2))), "damaged"),
    HostileFile("shapefile, 2 billion rings", _shapefile(shp=_rings(_HUGE, 4)), ""),
    HostileFile("shapefile, 2 billion positions", _shapefile(shp=_rings(1, _HUGE)), ""),
    HostileFile("shapefile, -1 rings", _shapefile(shp=_rings(-1, -1)), ""),
    HostileFile(
        "shapefile, NaN and inf", _shapefile(shp=shp(point(float("nan"), float("inf")))), ""
    ),
    HostileFile(
        "shapefile, 4 billion rows",
        _shapefile(shp=shp(point(1, 2)), dbf=dbf([(b"a", "C", 9, 0)], count=2**32 - 1)),
        "",
    ),
    HostileFile(
        "shapefile, odd encoding",
        _shapefile(shp=shp(point(1, 2)), dbf=_ROWS, cpg=b"../../../../etc/passwd"),
        "",
    ),
    HostileFile(
        "shapefile, encoding that unpacks",
        _shapefile(shp=shp(point(1, 2)), dbf=_ROWS, cpg=b"zlib"),
        "",
    ),
    HostileFile(
        "shapefile, .prj of a URL",
        lambda made: packed(
            made.folder, shp=shp(parts(SQUARE)), prj=made.bait.url.encode()
        ).read_bytes(),
        "",
    ),
    HostileFile("shapefile, cut off", _shapefile(shp=shp(parts(SQUARE))[:-9]), "incomplete"),
    *(
        HostileFile(f"GeoPackage, {name}", _defined(sql), "", "a.gpkg")
        for name, sql in (
            (
                "VirtualText",
                "CREATE VIRTUAL TABLE a USING VirtualText('{file}', 'UTF-8', 1, COMMA)",
            ),
            ("virtual table csv", "CREATE VIRTUAL TABLE a USING csv(filename='{file}')"),
        )
    ),
    HostileFile(
        "GeoPackage, view that loads code",
        _geopackage(
            *_VIEW, "CREATE VIEW a AS SELECT geom, load_extension('{file}') n FROM forests"
        ),
        "",
    ),
    HostileFile(
        "GeoPackage, view that reads a file",
        _geopackage(*_VIEW, "CREATE VIEW a AS SELECT geom, readfile('{file}') n FROM forests"),
        "",
    ),
    HostileFile(
        "GeoPackage, endless view",
        _geopackage(*_VIEW, f"CREATE VIEW a AS {_ENDLESS} SELECT i AS fid, NULL AS geom FROM n"),
        "",
    ),
    HostileFile(
        "GeoPackage, endless computed column",
        _geopackage("ALTER TABLE forests ADD b AS (length(hex(zeroblob(500000000))))"),
        "",
    ),
    HostileFile(
        "GeoPackage, triggers",
        _geopackage(
            "CREATE TRIGGER t AFTER INSERT ON forests BEGIN SELECT load_extension('{file}'); END"
        ),
        "",
    ),
    HostileFile("GeoPackage of 4 billion pages", _pages, ""),
    HostileFile("GeoPackage, overwritten", _noise, "damaged"),
    HostileFile("GeoPackage, cut off", lambda made: _geopackage()(made)[:9000], "damaged"),
    HostileFile(
        "GeoPackage, NaN and inf", _geopackage(("UPDATE forests SET geom = ?", [_NAN])), ""
    ),
    HostileFile(
        "GeoPackage, 4 billion rings", _geopackage(("UPDATE forests SET geom = ?", [_RINGS])), ""
    ),
    HostileFile(
        "GeoPackage, a value of 45 MB",
        _geopackage("UPDATE forests SET name = zeroblob(45000000)"),
        "larger than 32 MiB",
        is_large=True,
    ),
    HostileFile(
        "GeoPackage, 1,000,000 rows",
        _geopackage((f"INSERT INTO forests(geom) {_MANY.format(10**6)} SELECT ? FROM n", [_POINT])),
        "10,000",
        is_large=True,
    ),
    HostileFile(
        "GeoPackage, 100 layers of long columns", _wide, "Split it into several", is_large=True
    ),
)
