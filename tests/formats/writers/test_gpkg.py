"""GeoPackage: the tables that the standard demands."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Any

import pyogrio

from tests.formats.writers.sources import Record, asset, project, read_layer, source, write
from tests.make.geometry import multi_square, point, square


def _query(path: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def _written(folder: Path, *records: Record, **options: Any) -> Path:
    return write(source(*records, **options), "gpkg", folder)


def test_it_says_what_it_is(tmp_path: Path) -> None:
    path = _written(tmp_path, project(geometry=square()))
    assert path.read_bytes()[68:72] == b"GPKG"
    assert struct.unpack(">i", path.read_bytes()[60:64]) == (10300,)
    assert _query(path, "PRAGMA integrity_check") == [("ok",)]
    assert _query(path, "PRAGMA foreign_key_check") == []
    systems = _query(path, "SELECT srs_id FROM gpkg_spatial_ref_sys ORDER BY 1")
    assert systems == [(-1,), (0,), (4326,)]


def test_contents_have_the_bounds_of_all(tmp_path: Path) -> None:
    path = _written(
        tmp_path, project(1, geometry=square(-5, 40)), project(2), project(3, geometry=square(7, 2))
    )
    columns = "table_name, data_type, min_x, min_y, max_x, max_y, srs_id"
    (contents,) = _query(path, f"SELECT {columns} FROM gpkg_contents")
    assert contents == ("projects", "features", -5.0, 2.0, 7.1, 40.1, 4326)
    (geometry,) = _query(path, "SELECT * FROM gpkg_geometry_columns")
    assert geometry == ("projects", "geom", "MULTIPOLYGON", 4326, 0, 0)


def test_all_boundaries_have_one_type(tmp_path: Path) -> None:
    path = _written(
        tmp_path, project(1, geometry=square()), project(2, geometry=multi_square((1, 1), (3, 3)))
    )
    layer = read_layer(path)
    assert {shape.geom_type for shape in layer.geometries} == {"MultiPolygon"}
    assert layer.geometry_type == "MultiPolygon"


def test_columns_have_types(tmp_path: Path) -> None:
    record = project(metadata={"n": 1, "f": 0.5, "b": True, "t": "x"})
    types = read_layer(_written(tmp_path, record)).types
    assert types["n"] == "OFTInteger64"
    assert (types["f"], types["t"]) == ("OFTReal", "OFTString")
    assert (types["created_at"], types["area_hectares"]) == ("OFTDateTime", "OFTReal")
    (declared,) = _query(
        tmp_path / "projects.gpkg", "SELECT sql FROM sqlite_master WHERE name='projects'"
    )
    assert '"b" BOOLEAN' in declared[0]


def test_any_key_can_be_a_column(tmp_path: Path) -> None:
    for key in ("fid", "GEOM", 'a"b', "x); DROP TABLE projects; --", "select"):
        record = project(geometry=square(), metadata={key: 42})
        columns = read_layer(_written(tmp_path, record)).columns
        assert [42] in columns.values(), key


def test_the_index_finds_boxes_and_follows_changes(tmp_path: Path) -> None:
    path = _written(tmp_path, *(project(n, geometry=square(n, 50)) for n in range(50)), project(99))
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(
            "SELECT count(*) FROM rtree_projects_geom WHERE minx <= 10.05 AND maxx >= 10"
        )
        assert found.fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM rtree_projects_geom").fetchone() == (50,)
        connection.execute("DELETE FROM projects WHERE fid = 1")
        assert connection.execute("SELECT count(*) FROM rtree_projects_geom").fetchone() == (49,)
        triggers = connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'")
        assert triggers.fetchone() == (6,)
    assert pyogrio.read_info(path)["capabilities"]["fast_spatial_filter"]
    found = pyogrio.raw.read(path, bbox=(20, 50, 20.01, 50.01))
    assert len(found[2]) == 1


def test_heights_are_kept(tmp_path: Path) -> None:
    location = {"type": "Point", "coordinates": [1, 2, 300.5]}
    path = _written(tmp_path, asset(1, location=location), asset(2, location=point()))
    assert _query(path, "SELECT z FROM gpkg_geometry_columns") == [(2,)]
    shape, flat = read_layer(path).geometries
    assert (shape.x, shape.y, shape.z) == (1, 2, 300.5)
    assert not flat.has_z or flat.z != flat.z
