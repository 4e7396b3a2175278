"""The same records in every format, as other programs read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from app.formats.writers.features import ASSETS, PROJECTS
from tests.formats.writers.sources import (
    Layer,
    Record,
    asset,
    project,
    read_layer,
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

NAMES = ['<b>&"quoted"\'', "غابة الأرز", "Wald 🌲🌳, Höhe; 5", "=cmd|' /C calc'!A0"]
# The values of each type of column in four records, None where a record lacks them.
VALUES: dict[str, list[Any]] = {
    "region": [6, -7, 2**40, None],
    "parcel": [1234567890123456788, 1234567890123456789, -(10**17), 2**62],
    "height": [12.5, 0.1, None, None],
    "wet": [True, False, None, None],
    "day": ["2026-01-02", "1899-12-31", None, None],
    "seen": ["2026-01-02T03:04:05.678Z", "2026-06-02T23:04:05Z", None, None],
    "note": ["oak, ash\nbeech", "0123", "", None],
    "Überschwemmungsgebiet": ["Дуб 森 🌲 غابة", None, None, "x" * 300],
    "species": [["oak"], None, None, None],
    "owner": [None, None, {"name": "Jo", "since": 1999}, None],
}
METADATA: list[Any] = [
    {name: values[number] for name, values in VALUES.items() if values[number] is not None}
    for number in range(4)
]

PROJECT_FORMATS = ("geojson", "geojsonl", "csv", "kml", "gpkg", "shp")
ASSET_FORMATS = (*PROJECT_FORMATS, "gpx")


def _projects() -> list[Record]:
    geometries = (HOLED, MULTI, WAVY, None)
    return [
        project(number, geometry=geometry, metadata=metadata, name=name)
        for number, (geometry, metadata, name) in enumerate(
            zip(geometries, METADATA, NAMES, strict=True)
        )
    ]


def _column(columns: dict[str, list[Any]], name: str) -> list[Any]:
    """By its first ten bytes in a shapefile, and whatever the case in KML."""
    names = (name, name[:10], name[:9])
    return next(values for each, values in columns.items() if each.casefold() in names)


@pytest.mark.parametrize("format_name", PROJECT_FORMATS)
def test_projects_come_back(format_name: str, tmp_path: Path) -> None:
    layer = read_layer(write(source(*_projects()), format_name, tmp_path))
    _check_shapes(layer)
    assert layer.crs == (None if format_name == "csv" else "EPSG:4326")
    guarded = [*NAMES[:3], f"'{NAMES[3]}"] if format_name == "csv" else NAMES
    columns = layer.columns
    assert _column(columns, "name") == guarded
    assert _column(columns, "id") == [each["id"] for each in _projects()]
    assert _column(columns, "area_hectares") == [12.3456, 12.3456, 12.3456, None]
    assert _times(_column(columns, "created_at")) == ["2026-01-02T03:04:05"] * 4
    for name in ("region", "height", "wet", "parcel"):
        found = _column(columns, name)
        is_text = name == "parcel" and format_name in ("kml", "shp")  # exact, as an integer is not
        assert (list(map(int, found)) if is_text else found) == VALUES[name], name
    assert layer.types["region"] in ("OFTInteger64", "OFTReal")
    for name in ("day", "seen"):
        assert _times(_column(columns, name)) == _times(VALUES[name])
    _check_texts(columns, format_name)


def _times(values: list[Any]) -> list[str | None]:
    """Dates and times as ISO 8601 has them, to the second."""
    return [value and str(value).replace(" ", "T")[:19] for value in values]


def _check_texts(columns: dict[str, list[Any]], format_name: str) -> None:
    *texts, third, fourth = _column(columns, "note")
    assert texts == VALUES["note"][:2]
    # A shapefile has no empty text; GDAL takes a missing value of CSV for one.
    assert (third, fourth) == {"shp": (None, None), "csv": ("", "")}.get(format_name, ("", None))
    long = _column(columns, "überschwemmungsgebiet")
    assert long[0] == VALUES["Überschwemmungsgebiet"][0]
    assert len(long[3]) == (254 if format_name == "shp" else 300)
    if not format_name.startswith("geojson"):
        assert _column(columns, "species")[0] == '["oak"]'
        assert _column(columns, "owner")[2] == '{"name":"Jo","since":1999}'


def _check_shapes(layer: Layer) -> None:
    holed, several, wavy, nothing = layer.geometries
    assert [holed.area, several.area] == pytest.approx([0.91, 0.92], abs=1e-6)
    assert nothing is None
    assert len(several.geoms) == 2
    holed, wavy = (
        shape.geoms[0] if shape.geom_type == "MultiPolygon" else shape for shape in (holed, wavy)
    )
    assert len(holed.interiors) == 1
    assert holed.is_valid
    positions = {tuple(position) for position in wavy.exterior.coords}  # with all digits
    assert positions == {tuple(position) for position in WAVY["coordinates"][0]}


@pytest.mark.parametrize("format_name", ASSET_FORMATS)
def test_points_come_back(format_name: str, tmp_path: Path) -> None:
    records = [
        asset(1, location=point(10.1234567, -50.5), metadata={"serial": "WX-1"}),
        asset(2, name="Nowhere"),
        asset(3, location=point(-180, 90)),
    ]
    path = write(source(*records), format_name, tmp_path)
    layer = read_layer(path, "waypoints" if format_name == "gpx" else None)
    places = [None if shape is None else (shape.x, shape.y) for shape in layer.geometries]
    expected = [(10.1234567, -50.5), None, (-180, 90)]
    assert places == (expected[::2] if format_name == "gpx" else expected)
    names = ["Station 1", "Nowhere", "Station 3"]
    assert _column(layer.columns, "name") == (names[::2] if format_name == "gpx" else names)


def test_no_records_make_a_valid_file(tmp_path: Path) -> None:
    """GDAL finds no layer in an empty text, and none in KML without a Placemark."""
    for kind, format_name in (
        *((PROJECTS, format_name) for format_name in PROJECT_FORMATS),
        *((ASSETS, format_name) for format_name in ASSET_FORMATS),
    ):
        path = write(source(type=kind), format_name, tmp_path)
        if format_name == "geojsonl":
            assert path.read_bytes() == b""
        elif format_name == "kml":
            (document,) = ElementTree.parse(path).getroot()
            assert [each.tag.rpartition("}")[2] for each in document] == ["name", "Schema"]
        else:
            layer = "waypoints" if format_name == "gpx" else None
            assert read_layer(path, layer).geometries == []
