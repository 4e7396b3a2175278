"""The same records in every format, as GDAL reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from app.formats.writers.features import ASSETS, PROJECTS
from tests.formats.writers.sources import (
    Record,
    asset,
    project,
    read_with_gdal,
    source,
    write,
)
from tests.make.geometry import point, square_ring
from tests.make.wavy import wavy_ring

HOLED = {
    "type": "Polygon",
    "coordinates": [square_ring(size=1.0), square_ring(10.2, 50.2, 0.3)[::-1]],
}
MULTI = {"type": "MultiPolygon", "coordinates": [[square_ring(20.0)], HOLED["coordinates"]]}
WAVY = {"type": "Polygon", "coordinates": [wavy_ring(2_000, 30.0, 10.0)]}
AREAS = [0.91, 0.92, None, None]  # square degrees; the third is that of the wavy one

NAMES = ['<b>&"quoted"\'', "غابة الأرز", "Wald 🌲🌳, Höhe; 5", "=cmd|' /C calc'!A0"]
METADATA: list[Any] = [
    {"region": 6, "height": 12.5, "wet": True, "note": "oak, ash\nbeech", "species": ["oak"]},
    {"region": -7, "height": 0.1, "wet": False, "note": "0123"},
    {"region": 2**40, "owner": {"name": "Jo", "since": 1999}},
    None,
]

PROJECT_FORMATS = ("geojson", "geojsonl", "csv", "kml", "gpkg", "shp")
each_format = pytest.mark.parametrize("format_name", PROJECT_FORMATS)


def _projects() -> list[Record]:
    geometries = (HOLED, MULTI, WAVY, None)
    return [
        project(number, geometry=geometry, metadata=metadata, name=name)
        for number, (geometry, metadata, name) in enumerate(
            zip(geometries, METADATA, NAMES, strict=True)
        )
    ]


def _column(columns: dict[str, list[Any]], name: str) -> list[Any]:
    """By its first ten letters in a shapefile, and whatever the case in KML."""
    return next(values for each, values in columns.items() if each.lower() in (name, name[:10]))


@each_format
def test_boundaries_come_back(format_name: str, tmp_path: Path) -> None:
    layer = read_with_gdal(write(source(*_projects()), format_name, tmp_path))
    wavy = read_with_gdal(write(source(_projects()[2]), "geojson", tmp_path)).areas[0]
    assert layer.areas[:3] == pytest.approx([0.91, 0.92, wavy], abs=1e-6)
    assert layer.geometries[3] is None
    assert [len(shape.geoms) for shape in layer.geometries[1:2]] == [2]
    holed = layer.geometries[0]
    assert len((holed.geoms[0] if holed.geom_type == "MultiPolygon" else holed).interiors) == 1
    assert layer.geometries[0].is_valid
    assert layer.crs == (None if format_name == "csv" else "EPSG:4326")


@each_format
def test_every_coordinate_keeps_its_digits(format_name: str, tmp_path: Path) -> None:
    layer = read_with_gdal(write(source(*_projects()), format_name, tmp_path))
    shape = layer.geometries[2]
    polygon = shape.geoms[0] if shape.geom_type == "MultiPolygon" else shape
    positions = {tuple(position) for position in polygon.exterior.coords}
    assert positions == {tuple(position) for position in WAVY["coordinates"][0]}


@each_format
def test_texts_come_back(format_name: str, tmp_path: Path) -> None:
    columns = read_with_gdal(write(source(*_projects()), format_name, tmp_path)).columns
    guarded = [*NAMES[:3], f"'{NAMES[3]}"] if format_name == "csv" else NAMES
    assert _column(columns, "name") == guarded
    assert _column(columns, "id") == [each["id"] for each in _projects()]
    assert _column(columns, "note")[0] == "oak, ash\nbeech"


@each_format
def test_numbers_and_booleans_come_back(format_name: str, tmp_path: Path) -> None:
    layer = read_with_gdal(write(source(*_projects()), format_name, tmp_path))
    assert _column(layer.columns, "region") == [6, -7, 2**40, None]
    assert _column(layer.columns, "height") == [12.5, 0.1, None, None]
    assert _column(layer.columns, "wet") == [True, False, None, None]
    assert _column(layer.columns, "area_hectares") == [12.3456, 12.3456, 12.3456, None]
    assert layer.types["region"] in ("OFTInteger64", "OFTReal")


@pytest.mark.parametrize("format_name", ["csv", "kml", "gpkg", "shp"])
def test_nested_values_are_json_in_tables(format_name: str, tmp_path: Path) -> None:
    columns = read_with_gdal(write(source(*_projects()), format_name, tmp_path)).columns
    assert _column(columns, "species")[0] == '["oak"]'
    assert _column(columns, "owner")[2] == '{"name":"Jo","since":1999}'


@pytest.mark.parametrize("format_name", PROJECT_FORMATS)
def test_no_projects_make_a_valid_file(format_name: str, tmp_path: Path) -> None:
    path = write(source(type=PROJECTS), format_name, tmp_path)
    _check_empty(path, format_name)


@pytest.mark.parametrize("format_name", ["geojson", "geojsonl", "csv", "kml", "gpkg", "shp", "gpx"])
def test_points_come_back(format_name: str, tmp_path: Path) -> None:
    records = [
        asset(1, location=point(10.1234567, -50.5), metadata={"serial": "WX-1"}),
        asset(2, name="Nowhere"),
        asset(3, location=point(-180, 90)),
    ]
    path = write(source(*records), format_name, tmp_path)
    layer = read_with_gdal(path, "waypoints" if format_name == "gpx" else None)
    places = [None if shape is None else (shape.x, shape.y) for shape in layer.geometries]
    expected = [(10.1234567, -50.5), None, (-180, 90)]
    assert places == (expected[::2] if format_name == "gpx" else expected)
    names = ["Station 1", "Nowhere", "Station 3"]
    assert _column(layer.columns, "name") == (names[::2] if format_name == "gpx" else names)


@pytest.mark.parametrize("format_name", ["geojson", "geojsonl", "csv", "kml", "gpkg", "shp", "gpx"])
def test_no_assets_make_a_valid_file(format_name: str, tmp_path: Path) -> None:
    path = write(source(type=ASSETS), format_name, tmp_path)
    _check_empty(path, format_name)


def _check_empty(path: Path, format_name: str) -> None:
    """GDAL finds no layer in an empty text, and none in KML without a Placemark."""
    if format_name == "geojsonl":
        assert path.read_bytes() == b""
    elif format_name == "kml":
        (document,) = ElementTree.parse(path).getroot()
        assert [each.tag.rpartition("}")[2] for each in document] == ["name", "Schema"]
    else:
        layer = "waypoints" if format_name == "gpx" else None
        assert read_with_gdal(path, layer).geometries == []
