"""What reading takes does not grow with the file, whatever is in it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import shapely

from tests.architecture.sources import ROOT
from tests.formats.readers.geopackages import blob, one_square
from tests.formats.readers.shapefiles import NULL, parts, shp

MEGABYTE: Final = 1024 * 1024
MANY: Final = 100_000

# Reads one feature first, so that what all files need is loaded before memory is bounded.
CHILD = """
import importlib, resource, sys
from pathlib import Path
from app.formats.features import FileInvalid
module, name, first, path, memory = sys.argv[1:]
reader = getattr(importlib.import_module(f"app.formats.readers.{module}"), name)
def count(path):
    opened = reader(Path(path))
    return sum(1 for layer in opened.layers for _ in opened.read(layer))
count(first)
here = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (here + int(memory), here + int(memory)))
try:
    print(count(path))
except FileInvalid as error:
    print(error)
"""


def read(reader: str, first: Path, path: Path, megabytes: int) -> str:
    """The number of features, or why there are none, in a process with so much memory more."""
    arguments = [*reader.split(":"), str(first), str(path), str(megabytes * MEGABYTE)]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def geojson(*pieces: bytes) -> Iterator[bytes]:
    yield b'{"type":"FeatureCollection","features":['
    yield from pieces
    yield b"]}"


FEATURE = b'{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}'
LONG = b'{"type":"Feature","geometry":null,"properties":{"a":'


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([FEATURE, *[b"," + FEATURE] * MANY], str(MANY + 1)),
        ([LONG, b'"', b"x" * 60 * MEGABYTE, b'"}}'], "A text near byte"),
        ([LONG, b"[", *[b"[],"] * 5_000_000, b"[]]}}"], "A feature has more than 3,000,000 values"),
        ([LONG, *[b"[" * 400 + b" " * 8000] * 100], "nested too deeply"),
        ([LONG, *[b'{"a":' * 400 + b" " * 8000] * 100], "nested too deeply"),
        ([FEATURE[:-1] + b',"id":', b"1" * 60 * MEGABYTE, b"}"], "A text near byte"),
    ],
    ids=["many features", "text", "empty arrays", "nested arrays", "nested objects", "number"],
)
def test_geojson(tmp_path: Path, pieces: list[bytes], expected: str) -> None:
    first, path = tmp_path / "first", tmp_path / "upload"
    first.write_bytes(b"".join(geojson(FEATURE)))
    with path.open("wb") as file:
        file.writelines(geojson(*pieces))
    assert expected in read("geojson:GeoJsonReader", first, path, 40)


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ([NULL] * MANY, str(MANY)),
        ([parts([(0, 0)] * 3_000_000)], "1"),
        ([bytes(60 * MEGABYTE)], "1"),
    ],
    ids=["many records", "many positions", "a large record"],
)
def test_shapefile(tmp_path: Path, contents: list[bytes], expected: str) -> None:
    first, path = tmp_path / "first", tmp_path / "upload"
    for target, content in ((first, shp(NULL)), (path, shp(*contents))):
        with zipfile.ZipFile(target, "w") as file:  # not compressed, for a ratio that is allowed
            file.writestr("forest.shp", content)
    assert read("shapefile:ShapefileReader", first, path, 40) == expected


def test_geopackage(tmp_path: Path) -> None:
    first = tmp_path / "first.gpkg"
    one_square(tmp_path).rename(first)
    point = blob(shapely.Point(1, 2).wkb)
    many = f"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) "
    path = one_square(
        tmp_path,
        (f"INSERT INTO forests(geom) {many} SELECT ? FROM n", [point]),
    )
    assert read("geopackage:GeoPackageReader", first, path, 40) == str(MANY + 1)
    path = one_square(tmp_path, "UPDATE forests SET name = zeroblob(60000000)")
    told = read("geopackage:GeoPackageReader", first, path, 40)
    assert told.startswith("A value in the GeoPackage is larger than 32 MiB.")
