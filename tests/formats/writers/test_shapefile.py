"""Shapefiles: short names, bounded texts, and the file that tells of both."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import shapely

from app.formats.writers import shapefile
from app.formats.writers.source import CannotWrite
from tests.formats.writers.sources import (
    Record,
    asset,
    changing_source,
    project,
    read_layer,
    source,
    write,
)
from tests.make.geometry import point, square, square_ring


def _written(folder: Path, *records: Record) -> Path:
    return write(source(*records), "shp", folder)


def _member(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


def _legend(path: Path) -> str:
    return _member(path, "columns.txt").decode()


def test_the_members_of_the_zip(tmp_path: Path) -> None:
    path = _written(tmp_path, project(geometry=square()))
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    endings = ("shp", "shx", "dbf", "prj", "cpg")
    assert names == [*(f"projects.{ending}" for ending in endings), "columns.txt"]
    assert _member(path, "projects.cpg") == b"UTF-8"
    assert read_layer(path).crs == "EPSG:4326"
    assert list(tmp_path.iterdir()) == [path]


def test_exterior_rings_run_clockwise_and_holes_do_not(tmp_path: Path) -> None:
    geometry = {
        "type": "Polygon",
        "coordinates": [square_ring(size=1.0), square_ring(10.2, 50.2, 0.3)[::-1]],
    }
    raw = _member(_written(tmp_path, project(geometry=geometry)), "projects.shp")
    ordinates = memoryview(raw[-20 * 8 :]).cast("d").tolist()
    rings = [
        list(zip(part[::2], part[1::2], strict=True)) for part in (ordinates[:10], ordinates[10:])
    ]
    assert [shapely.LinearRing(ring).is_ccw for ring in rings] == [False, True]


def test_long_names_are_cut_to_different_ones_and_explained(tmp_path: Path) -> None:
    metadata = {"description_en": 1, "description_de": 2, "Überschwemmung": 3, "größenklasse": 4}
    path = _written(tmp_path, project(metadata=metadata))
    columns = read_layer(path).columns
    assert [columns[name] for name in ("descript_2", "descript_3")] == [[1], [2]]
    assert [columns[name] for name in ("Überschwe", "größenkl")] == [[3], [4]]
    legend = _legend(path).splitlines()
    assert "descriptio  description" in legend
    assert "descript_3  description_de" in legend
    assert "area_hecta  area_hectares" in legend
    assert "größenkl    größenklasse" in legend


def test_names_that_are_the_same_when_cut_at_a_space(tmp_path: Path) -> None:
    columns = read_layer(_written(tmp_path, project(metadata={"abc efghi": 1, "abc efghi j": 2})))
    assert [columns.columns[name] for name in ("abc efghi", "abc efgh_2")] == [[1], [2]]


def test_a_long_text_is_cut_between_two_characters(tmp_path: Path) -> None:
    path = _written(
        tmp_path, project(description="é" * 127 + "🌲", metadata={"t": "a" + "🌲" * 100})
    )
    columns = read_layer(path).columns
    assert columns["descriptio"] == ["é" * 127]
    assert columns["t"] == ["a" + "🌲" * 63]
    assert "t           t  (1 values cut)" in _legend(path)
    assert "at most 254 bytes" in _legend(path)


def test_heights_are_left_out_and_that_is_told(tmp_path: Path) -> None:
    record = asset(location={"type": "Point", "coordinates": [1, 2, 300.5]})
    path = _written(tmp_path, record)
    assert not read_layer(path).geometries[0].has_z
    assert "Heights were left out." in _legend(path)


def test_numbers_come_back(tmp_path: Path) -> None:
    for value in (
        0,
        -1,
        2**31,
        2**53 + 1,
        10**17,
        -(10**16),
        0.1,
        1e300,
        -2.5e-300,
        123456789.123456789,
    ):
        columns = read_layer(_written(tmp_path, project(metadata={"x": value}))).columns
        assert columns["x"] == [value], value


def test_no_value_is_no_value(tmp_path: Path) -> None:
    records = [
        project(1, metadata={"n": 1, "f": 0.5, "b": True, "t": "x"}),
        project(2, metadata={"n": None}),
    ]
    columns = read_layer(_written(tmp_path, *records)).columns
    assert [columns[name][1] for name in ("n", "f", "b", "t")] == [None, None, None, None]


def test_a_value_that_came_later_is_told(tmp_path: Path) -> None:
    after = [project(metadata={"n": 12_345, "new": 1})]
    path = write(changing_source([project(metadata={"n": 1})], after), "shp", tmp_path)
    assert read_layer(path).columns["n"] == [None]
    assert "n           n  (1 values cut)" in _legend(path)
    assert "1 features were changed in the meantime" in _legend(path)


def test_a_file_that_would_be_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapefile, "SHAPEFILE_BYTES", 10_000)
    records = [asset(n, location=point()) for n in range(100)]
    with pytest.raises(CannotWrite, match="2 GB"):
        _written(tmp_path, *records)
    assert list(tmp_path.iterdir()) == []
