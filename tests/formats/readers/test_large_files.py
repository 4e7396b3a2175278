"""What GeoJSON files, shapefiles and GeoPackages take that are large, or pretend to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest
import shapely

from tests.formats.readers.geopackages import blob, one_square
from tests.formats.readers.reading import read_in_child
from tests.formats.readers.shapefiles import NULL, packed, parts, shp

MEGABYTE: Final = 1024 * 1024
MEMORY: Final = 40 * MEGABYTE
MANY: Final = 50_000


def geojson(pieces: Iterable[bytes]) -> Iterator[bytes]:
    yield b'{"type":"FeatureCollection","features":['
    yield from pieces
    yield b"]}"


# Made when a test runs, and not when it is collected.
Pieces = Callable[[], Iterable[bytes]]


FEATURE = b'{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}'
LONG = b'{"type":"Feature","geometry":null,"properties":{"a":'


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (lambda: [FEATURE, *[b"," + FEATURE] * MANY], str(MANY + 1)),
        (lambda: [LONG, b'"', b"x" * 60 * MEGABYTE, b'"}}'], "A text near byte"),
        (
            lambda: [LONG, b"[", b"[]," * 5_000_000, b"[]]}}"],
            "A feature has more than 3,000,000 values",
        ),
        (lambda: [LONG, *[b"[" * 400 + b" " * 8000] * 100], "nested too deeply"),
    ],
    ids=["many features", "text", "empty arrays", "nested arrays"],
)
@pytest.mark.slow
def test_geojson(tmp_path: Path, pieces: Pieces, expected: str) -> None:
    path = tmp_path / "upload"
    with path.open("wb") as file:
        file.writelines(geojson(pieces()))
    assert expected in read_in_child(path, memory=MEMORY)


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (lambda: [NULL] * MANY, str(MANY)),
        (lambda: [parts([(0, 0)] * 3_000_000)], "1"),
        (lambda: [bytes(60 * MEGABYTE)], "1"),
    ],
    ids=["many records", "many positions", "a large record"],
)
@pytest.mark.trial
def test_shapefile(tmp_path: Path, contents: Pieces, expected: str) -> None:
    path = packed(tmp_path, shp=shp(*contents()))  # not compressed, for a ratio that is allowed
    assert read_in_child(path, memory=MEMORY) == expected


@pytest.mark.trial
def test_geopackage(tmp_path: Path) -> None:
    point = blob(shapely.Point(1, 2).wkb)
    many = f"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) "
    path = one_square(tmp_path, (f"INSERT INTO forests(geom) {many} SELECT ? FROM n", [point]))
    assert read_in_child(path, memory=MEMORY) == str(MANY + 1)
    path = one_square(tmp_path, "UPDATE forests SET name = zeroblob(60000000)")
    told = read_in_child(path, memory=MEMORY)
    assert told.startswith("A value in the GeoPackage is larger than 32 MiB.")
