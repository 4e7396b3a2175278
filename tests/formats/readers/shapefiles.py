"""Shapefiles made byte by byte, right or not."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

Ring = Sequence[Sequence[float]]

# Clockwise, as an exterior ring runs in a shapefile.
SQUARE: Ring = [(0, 0), (0, 10), (10, 10), (10, 0), (0, 0)]


def moved(ring: Ring, by: float, scale: float = 1) -> Ring:
    return [(x * scale + by, y * scale + by) for x, y in ring]


def hole(ring: Ring) -> Ring:
    return list(reversed(ring))


def point(x: float, y: float, *more: float) -> bytes:
    kind = {0: 1, 1: 21, 2: 11}[len(more)]
    return struct.pack(f"<i{2 + len(more)}d", kind, x, y, *more)


def parts(*rings: Ring, kind: int = 5) -> bytes:
    """A polygon, or of another kind, with or without heights and measures."""
    points = [position for ring in rings for position in ring]
    starts = [sum(map(len, rings[:n])) for n in range(len(rings))]
    content = struct.pack("<i4d2i", kind, 0, 0, 0, 0, len(rings), len(points))
    content += struct.pack(f"<{len(starts)}i", *starts)
    content += b"".join(struct.pack("<2d", *position) for position in points)
    numbers = {0: 0, 1: 2, 2: 1}[kind // 10]
    return content + struct.pack(f"<{2 + len(points)}d", *[7.0] * (2 + len(points))) * numbers


def multipoint(*points: Sequence[float]) -> bytes:
    flat = [number for position in points for number in position]
    return struct.pack(f"<i4di{len(flat)}d", 8, 0, 0, 0, 0, len(points), *flat)


NULL = struct.pack("<i", 0)


def shp(*contents: bytes, first: int = 1) -> bytes:
    records = b"".join(
        struct.pack(">2i", number, len(content) // 2) + content
        for number, content in enumerate(contents, start=first)
    )
    return header(100 + len(records)) + records


def shx(*offsets: int) -> bytes:
    entries = b"".join(struct.pack(">2i", offset // 2, 4) for offset in offsets)
    return header(100 + len(entries)) + entries


def header(length: int) -> bytes:
    return struct.pack(">7i", 9994, 0, 0, 0, 0, 0, length // 2) + struct.pack(
        "<2i8d", 1000, 5, *[0.0] * 8
    )


Field = tuple[bytes, str, int, int]


def dbf(
    fields: Iterable[Field], *records: bytes, language: int = 0, count: int | None = None
) -> bytes:
    """A table; a record has the values of all fields, padded, after the mark of deleted ones."""
    described = b"".join(
        struct.pack("<11sc4xBB14x", name, kind.encode(), width, decimals)
        for name, kind, width, decimals in fields
    )
    size = 1 + sum(width for _, _, width, _ in fields)
    start = 32 + len(described) + 1
    count = len(records) if count is None else count
    head = struct.pack("<B3xIHH17xBxx", 3, count, start, size, language)
    return head + described + b"\r" + b"".join(records) + b"\x1a"


def packed(folder: Path, **members: bytes) -> Path:
    """A zip file of members ``forest.shp`` and so on, by their suffix."""
    return packed_as(folder, {f"forest.{suffix}": content for suffix, content in members.items()})


def packed_as(folder: Path, members: dict[str, bytes]) -> Path:
    path = folder / "upload"
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path
