"""A made-up map of the world: a PMTiles file as Protomaps writes them, but with few tiles.

Zooms 0 to 5 are whole; from 6 on, there is land within ``LAND`` only. All tiles of the sea are one
tile. A tile of land has a road, a river, a forest and a village that is named after it.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pmtiles import writer
from pmtiles.tile import Compression, TileType, zxy_to_tileid

LAND = (22.6, 46.2, 23.4, 46.7)  # west, south, east, north
ATTRIBUTION = '<a href="https://protomaps.example">Protomaps</a> © OpenStreetMap'
EXTENT = 4096
_POINT, _LINE, _POLYGON = 1, 2, 3
_FIRST = range(6)  # zooms that are whole


def make_planet(
    path: Path,
    land: tuple[float, float, float, float] = LAND,
    *,
    max_zoom: int = 14,
    leaf_size: int = 64,
    padding: int = 0,
    tile_type: TileType = TileType.MVT,
    layer: str = "roads",
) -> Path:
    """Write the file.

    Args:
        leaf_size: entries of a leaf directory.
        padding: bytes that do not compress, to make the tiles of land larger.
        layer: the one that the metadata name.
    """
    ids = {zxy_to_tileid(*tile): tile for tile in _tiles(land, max_zoom)}
    sea = gzip.compress(encode_tile({"water": [(_POLYGON, _SQUARE, {"kind": "ocean"})]}), mtime=0)
    header: Any = {
        "tile_type": tile_type,
        "tile_compression": Compression.GZIP,
        "min_lon_e7": -1_800_000_000,
        "max_lon_e7": 1_800_000_000,
        "min_lat_e7": -850_000_000,
        "max_lat_e7": 850_000_000,
    }
    metadata = {"name": "Basemap", "attribution": ATTRIBUTION, "vector_layers": [{"id": layer}]}
    leaves = lambda entries, _: writer.build_roots_leaves(entries, leaf_size)  # noqa: E731
    with writer.write(str(path)) as file, patch.object(writer, "optimize_directories", leaves):
        for number in sorted(ids):
            is_land = ids[number] in Covering(land, ids[number][0])
            file.write_tile(number, land_tile(*ids[number], padding) if is_land else sea)
        file.finalize(header, metadata)
    return path


def land_tile(z: int, x: int, y: int, padding: int = 0) -> bytes:
    """A tile of land, compressed."""
    river = [[(0, 3000), (1500, 2600), (2600, 3300), (EXTENT, 3000)]]
    road = [[(0, 1000), (2000, 1800), (EXTENT, 1000)]]
    forest = [[(300, 300), (1500, 300), (1500, 1200), (300, 1200), (300, 300)]]
    name = {"kind": "locality", "kind_detail": "village", "name": f"Village {z}/{x}/{y}"}
    layers: dict[str, list[Any]] = {
        "earth": [(_POLYGON, _SQUARE, {"kind": "earth"})],
        "landuse": [(_POLYGON, forest, {"kind": "forest"})],
        "water": [(_LINE, river, {"kind": "river", "name": "Arieș"})],
        "roads": [(_LINE, road, {"kind": "major_road", "kind_detail": "primary", "name": "DN 75"})],
        "places": [(_POINT, [[(2048, 2048)]], {**name, "min_zoom": 0, "population_rank": 5})],
    }
    noise = b"".join(str(hash((z, x, y, n))).encode() for n in range(padding // 19))
    return gzip.compress(encode_tile(layers) + _field(19, 2, noise), mtime=0, compresslevel=1)


def encode_tile(layers: dict[str, list[tuple[int, list[Any], dict[str, str | int]]]]) -> bytes:
    """Encode layers of features (type, rings or lines in units of ``EXTENT``, properties) as a
    Mapbox Vector Tile."""
    return b"".join(_field(3, 2, _layer(name, features)) for name, features in layers.items())


def _layer(name: str, features: list[Any]) -> bytes:
    keys: list[str] = []
    values: list[str | int] = []
    body = _field(15, 0, 2) + _field(1, 2, name.encode()) + _field(5, 0, EXTENT)
    for kind, lines, properties in features:
        tags = []
        for key, value in properties.items():
            tags += [_place(keys, key), _place(values, value)]
        parts = _field(2, 2, _varints(tags)) + _field(3, 0, kind)
        body += _field(2, 2, parts + _field(4, 2, _varints(_commands(kind, lines))))
    body += b"".join(_field(3, 2, key.encode()) for key in keys)
    for value in values:
        coded = _field(1, 2, value.encode()) if isinstance(value, str) else _field(4, 0, value)
        body += _field(4, 2, coded)
    return body


def _place(known: list[Any], value: Any) -> int:
    if value not in known:
        known.append(value)
    return known.index(value)


def _commands(kind: int, lines: list[list[tuple[int, int]]]) -> Iterator[int]:
    """The numbers of a geometry: moves and lines relative to the position before."""
    at = (0, 0)
    for line in lines:
        points = line[:-1] if kind == _POLYGON else line
        for number, point in enumerate(points):
            if number < 2:
                yield 1 << 3 | 1 if number == 0 else (len(points) - 1) << 3 | 2
            for now, before in zip(point, at, strict=True):
                yield (now - before) << 1 ^ (now - before) >> 31
            at = point
        if kind == _POLYGON:
            yield 1 << 3 | 7


def _field(number: int, wire: int, value: int | bytes) -> bytes:
    head = _varints([number << 3 | wire])
    if isinstance(value, int):
        return head + _varints([value])
    return head + _varints([len(value)]) + value


def _varints(numbers: Iterable[int]) -> bytes:
    data = bytearray()
    for number in numbers:
        while number > 127:
            data.append(number & 127 | 128)
            number >>= 7
        data.append(number)
    return bytes(data)


_SQUARE = [[(-64, -64), (4160, -64), (4160, 4160), (-64, 4160), (-64, -64)]]


def _tiles(
    land: tuple[float, float, float, float], max_zoom: int
) -> Iterator[tuple[int, int, int]]:
    for z in _FIRST:
        yield from ((z, x, y) for x in range(2**z) for y in range(2**z))
    for z in range(len(_FIRST), max_zoom + 1):
        yield from Covering(land, z)


class Covering:
    """The tiles of a zoom that touch a box."""

    def __init__(self, box: tuple[float, float, float, float], z: int) -> None:
        (self.west, self.north) = tile_at(box[0], box[3], z)
        (self.east, self.south) = tile_at(box[2], box[1], z)
        self.z = z

    def __contains__(self, tile: tuple[int, int, int]) -> bool:
        _, x, y = tile
        return self.west <= x <= self.east and self.north <= y <= self.south

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        for x in range(self.west, self.east + 1):
            for y in range(self.north, self.south + 1):
                yield self.z, x, y


def tile_at(lon: float, lat: float, z: int) -> tuple[int, int]:
    """The tile at a place, as (x, y)."""
    x = (lon + 180) / 360
    y = (1 - math.asinh(math.tan(math.radians(lat))) / math.pi) / 2
    return int(x * 2**z), int(y * 2**z)
