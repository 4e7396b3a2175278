"""GeoPackages of GDAL, changed afterwards."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import shapely

from tests.formats.readers.gdal import write

SQUARE = shapely.box(1, 2, 3, 4)


def saved(folder: Path, layer: str = "forests", **options: Any) -> Path:
    return write(folder / "upload.gpkg", "GPKG", layer=layer, **options)


def changed(path: Path, *statements: str | tuple[str, Sequence[Any]]) -> Path:
    """The same file after some SQL."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    for trigger in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall():
        connection.execute(f'DROP TRIGGER "{trigger[0]}"')  # they need functions of GDAL
    for statement in statements:
        connection.execute(*([statement] if isinstance(statement, str) else statement))
    connection.close()
    return path


def one_square(folder: Path, *statements: str | tuple[str, Sequence[Any]]) -> Path:
    """A GeoPackage with one feature, a square, after some SQL."""
    return changed(saved(folder, shapes=[SQUARE], columns={"name": ["a"]}), *statements)


def blob(wkb: bytes, flags: int = 1, envelope: int = 0, magic: bytes = b"GP") -> bytes:
    order = "<" if flags & 1 else ">"
    return magic + bytes([0, flags]) + struct.pack(f"{order}i", 4326) + bytes(envelope) + wkb


def with_geometry(folder: Path, value: Any) -> Path:
    return one_square(folder, ("UPDATE forests SET geom = ?", [value]))
