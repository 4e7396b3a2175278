"""Coordinate reference systems, and positions in them on WGS 84."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from string import Template
from typing import Any

import pytest
import shapely
from pyproj import CRS

from app.formats.crs import note_on_area, read_crs
from app.formats.features import FileInvalid
from app.geometry import GeometryInvalid

WGS84 = 'DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]]'
CLARKE = 'DATUM["y",SPHEROID["Clarke 1866",6378206.4,294.978698213898]{}]'
GREENWICH = 'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]'
PLANE = 'CS[Cartesian,2],AXIS["e",east],AXIS["n",north],LENGTHUNIT["metre",1]'


def wkt(code: int, version: str = "WKT2_2019") -> str:
    text: str = CRS.from_epsg(code).to_wkt(version)
    return text


def point(*coordinates: float) -> dict[str, Any]:
    return {"type": "Point", "coordinates": list(coordinates)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("EPSG:25832", "EPSG:25832"),
        ("epsg::25832", "EPSG:25832"),
        (" 25832 ", "EPSG:25832"),
        ("ESRI:102100", "ESRI:102100"),
        ("urn:ogc:def:crs:EPSG::27700", "EPSG:27700"),
        ("urn:x-ogc:def:crs:EPSG:6.9:27700", "EPSG:27700"),
        ("http://www.opengis.net/def/crs/EPSG/0/28992", "EPSG:28992"),
        ("http://www.opengis.net/gml/srs/epsg.xml#4258", "EPSG:4258"),
        pytest.param(wkt(25832, "WKT1_ESRI"), "EPSG:25832", id="WKT of ESRI"),
        pytest.param(wkt(2263, "WKT1_GDAL"), "EPSG:2263", id="WKT 1, feet"),
        pytest.param(wkt(31467, "WKT1_GDAL"), "EPSG:31467", id="WKT 1 without the order of axes"),
        pytest.param(wkt(3857, "WKT1_GDAL"), "EPSG:3857", id="WKT 1 with an extension"),
        pytest.param(wkt(7415), "EPSG:28992", id="WKT 2, compound"),
        pytest.param(
            wkt(25832, "WKT1_GDAL").replace('meridian",9]', 'meridian",15]'),
            "EPSG:25833",
            id="another system than its code says",
        ),
        pytest.param(
            wkt(25832, "WKT1_GDAL").replace('meridian",9]', 'meridian",9.5]'),
            "ETRS89 / UTM zone 32N",
            id="a system without a code",
        ),
        pytest.param(
            wkt(25832, "WKT1_GDAL").replace('"EPSG","25832"', '"Forests","1"'),
            "EPSG:25832",
            id="a code of an authority that is not known",
        ),
    ],
)
def test_systems_and_their_names(text: str, name: str) -> None:
    projection = read_crs(text)
    assert (projection.name, projection.is_wgs84) == (name, False)


def test_longitude_and_latitude_on_wgs84_stay_what_they_are() -> None:
    for text in (
        "EPSG:4326",
        "WGS84",
        "CRS84",
        "urn:ogc:def:crs:OGC:1.3:CRS84",
        "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
        "EPSG:4979",
        "EPSG:9707",
        wkt(4326, "WKT1_ESRI"),
    ):
        projection = read_crs(text)
        assert (projection.name, projection.accuracy, projection.note) == ("EPSG:4326", 0, None), (
            text
        )
        assert projection.is_wgs84, text
        written = point(-121.17499364999998, 47.19078203999999, 812.5)
        assert projection.to_wgs84(written) == point(-121.17499364999998, 47.19078203999999), text


def test_positions() -> None:
    for text, position, expected in (
        # The arc of the meridian to 50° is 5,540,847.042 m on GRS 80; UTM scales it by 0.9996.
        ("EPSG:25832", (500_000, 5_540_847.042 * 0.9996), (9, 50)),
        ("EPSG:31467", (3_500_000, 0), (9.0, 0.0)),
        ("EPSG:3857", (20_037_508.342789244, 0), (180, 0)),
        (wkt(3857, "WKT1_GDAL"), (-20_037_508.342789244 / 2, 0), (-90, 0)),
        ("EPSG:4807", (0, 50), (2.3372, 45)),  # gradians east of Paris
        ("EPSG:4258", (9, 50), (9, 50)),  # whose first axis is the latitude
    ):
        found = read_crs(text).to_wgs84(point(*position))
        within = 0.005 if text in ("EPSG:31467", "EPSG:4807") else 1e-8  # a shift of the datum
        assert found["coordinates"] == pytest.approx(expected, abs=within), text


def test_a_sliver_as_overlays_leave_it_stays_valid() -> None:
    """Its sides touch where positions are rounded to a hundredth of a millimeter."""
    sliver = [(5.36, 3.37), (5.360056, 3.369964), (1.4, 0.89), (5.359968, 3.36991)]
    ring = [(0, 0), (100, 0), (100, 60), *sliver, (0, 10), (0, 0)]
    ring = [(500_000 + x, 5_200_000 + y) for x, y in ring]
    found = read_crs("EPSG:25832").to_wgs84(
        {"type": "Polygon", "coordinates": [[*map(list, ring)]]}
    )
    assert shapely.geometry.shape(found).is_valid


def test_geometries_of_all_types() -> None:
    projection = read_crs("EPSG:32610")
    x, y = 500_000, 0
    shapes = [
        point(x, y, 7),
        {"type": "LineString", "coordinates": [[x, y], [x, y]]},
        {"type": "MultiPolygon", "coordinates": [[[[x, y, 7], [x, y, 7]], []], []]},
        {"type": "MultiPoint", "coordinates": []},
    ]
    there = [-123, 0]
    changed = [
        {"type": "Point", "coordinates": there},
        {"type": "LineString", "coordinates": [there, there]},
        {"type": "MultiPolygon", "coordinates": [[[there, there], []], []]},
        {"type": "MultiPoint", "coordinates": []},
    ]
    for shape, expected in zip(shapes, changed, strict=True):
        assert projection.to_wgs84(shape) == expected
    collection = {"type": "GeometryCollection", "geometries": shapes, "crs": "x"}
    expected = {"type": "GeometryCollection", "geometries": changed}
    assert projection.to_wgs84(collection) == expected


def test_geometries_that_cannot_be_transformed() -> None:
    for geometry, code in (
        (point(1e9, 1e9), "out_of_range"),
        (point(float("nan"), 0), "out_of_range"),
        (point(10**400, 0), "wrong_position"),
        (point(1), "wrong_position"),
        ({"type": "Point", "coordinates": [[[[[[0, 0]]]]]]}, "wrong_position"),
        ({"type": "Point", "coordinates": ["0", "0"]}, "wrong_position"),
        ({"type": "Point", "coordinates": [True, 0]}, "wrong_position"),
        ({"type": "Point"}, "wrong_position"),
        ({"type": "GeometryCollection", "geometries": [7]}, "unreadable"),
    ):
        with pytest.raises(GeometryInvalid) as error:
            read_crs("EPSG:25832").to_wgs84(geometry)
        (problem,) = error.value.problems
        assert problem.code == code, geometry
        if geometry == point(1e9, 1e9):
            assert "(1000000000, 1000000000) is outside the area of EPSG:25832" in problem.message


def test_what_the_result_is_worth() -> None:
    for text, accuracy, note in (
        ("EPSG:25832", 1, None),
        ("EPSG:32610", 0, None),
        ("EPSG:31467", 3, "by “DHDN to WGS 84 (2)”, accurate to about 3 m. A local grid "),
        ("EPSG:4267", 20, "accurate to about 20 m"),
        (f'GEOGCS["x",{CLARKE.format("")},{GREENWICH}]', None, "No transformation from x to WGS"),
        (
            f'GEOGCS["x",{CLARKE.format(",TOWGS84[-8,160,176,0,0,0,0]")},{GREENWICH}]',
            None,
            "of unknown accuracy",
        ),
    ):
        projection = read_crs(text)
        assert projection.accuracy == accuracy, text
        assert note in projection.note if note and projection.note else projection.note is note, (
            text
        )


def test_texts_that_are_no_system() -> None:
    for text, told in (
        ("", "is not a known coordinate reference system"),
        ("EPSG:999999", "is not a known coordinate reference system"),
        ("EPSG:25832\0", "is not a known"),
        ("Mercator", "is not a known"),
        ("GEOGCS[\ud800]", "is not a known"),
        ("GEOGCS[" * 2000, "is not a known"),
        (" " * 10 + "x" * 20_001, "more than 20,000 characters"),
        ("EPSG:5773", "EGM96 height is not a projected or geographic"),
        ("EPSG:4978", "is not a projected or geographic"),
        ('LOCAL_CS["site",UNIT["metre",1]]', "site is not a projected or geographic"),
        (f'ENGCRS["site",EDATUM["y"],{PLANE}]', "site is not a projected or geographic"),
        ("ESRI:104903", "cannot be transformed to WGS 84"),  # of the Moon
        ("ESRI:54050", "cannot be transformed to WGS 84"),  # has no inverse
        ("+proj=longlat +datum=WGS84", "is not a known"),
        ("+init=epsg:25832", "is not a known"),
        ("http://127.0.0.1/crs", "is not a known"),
        ("/etc/passwd", "is not a known"),
        (json.dumps(CRS.from_epsg(25832).to_json_dict()), "is not a known"),
    ):
        with pytest.raises(FileInvalid, match=told):
            read_crs(text)


HOSTILE = {
    "grid of a datum": """GEOGCS["x",DATUM["y",SPHEROID["Clarke 1866",6378206.4,294.978698213898],
        EXTENSION["PROJ4_GRIDS","$file"]],$greenwich]""",
    "PROJ string": """GEOGCS["x",$wgs84,$greenwich,
        EXTENSION["PROJ4","+proj=longlat +ellps=clrk66 +nadgrids=$file +no_defs"]]""",
    "after a harmless one": """PROJCS["x",GEOGCS["x",$wgs84,$greenwich],
        PROJECTION["Mercator_1SP"],PARAMETER["scale_factor",1],UNIT["metre",1],
        EXTENSION["PROJ4","+proj=merc +nadgrids=@null"],EXTENSION["PROJ4","+nadgrids=$file"]]""",
    "init file": """GEOGCS["x",$wgs84,$greenwich,EXTENSION [ "PROJ4","+init=$file:1"]]""",
    "bound": """BOUNDCRS[SOURCECRS[$nad27],TARGETCRS[$epsg4326],ABRIDGEDTRANSFORMATION["t",
        METHOD["NTv2",ID["EPSG",9615]],
        PARAMETERFILE["Latitude and longitude difference file","$file"]]]""",
    "method": """PROJCRS["x",$base,CONVERSION["c",METHOD["PROJ-based operation method:
        +proj=pipeline +step +proj=hgridshift +grids=$file"]],$plane]""",
    "method without plus": """PROJCRS["x",$base,
        CONVERSION["c",METHOD["PROJ hgridshift grids=$file"]],$plane]""",
    "remark": """PROJCRS["x",$base,CONVERSION["c",METHOD["Transverse Mercator"]],$plane,
        REMARK["PROJ CRS string: +proj=longlat +nadgrids=$file"]]""",
}


def test_a_definition_cannot_name_a_file(tmp_path: Path) -> None:
    for kind in HOSTILE:
        file = tmp_path / "grid"
        file.write_bytes(b"\0" * 1000)
        os.utime(file, (0, file.stat().st_mtime))  # reading it changes the first
        text = Template(HOSTILE[kind]).substitute(
            file=file,
            wgs84=WGS84,
            greenwich=GREENWICH,
            base=f"BASEGEOGCRS[{wkt(4326).partition('[')[2].partition(',CS[')[0]}]",
            plane=PLANE,
            nad27=wkt(4267),
            epsg4326=wkt(4326),
        )
        with pytest.raises(FileInvalid, match=r"Convert the file to EPSG:4326, in QGIS"):
            read_crs(text)
        assert file.stat().st_atime == 0, kind


@pytest.mark.slow
def test_no_grid_is_downloaded() -> None:
    code = "from app.formats.crs import read_crs; print(read_crs('EPSG:31467').to_wgs84(%r))"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        network = {
            "PROJ_NETWORK": "ON",
            "PROJ_NETWORK_ENDPOINT": f"http://127.0.0.1:{server.getsockname()[1]}",
        }
        subprocess.run(
            [sys.executable, "-c", code % point(3_500_000, 5_500_000)],
            env={**os.environ, **network},
            check=True,
            timeout=120,
        )
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_name_is_told_by_its_codes() -> None:
    with pytest.raises(FileInvalid, match=r"Do you mean EPSG:3844 \(Pulkovo 1942\(58\) / Stereo70"):
        read_crs("Stereo 70")
    with pytest.raises(FileInvalid, match="Give its code, such as"):
        read_crs("no such system")


def test_places_outside_the_area_of_a_system_are_noted() -> None:
    """Its accuracy is only that of its area."""
    for name, places, told in (
        ("EPSG:27700", [("", -75.0, 87.0)], "outside the area of EPSG:27700 (United Kingdom (UK)"),
        ("EPSG:27700", [("", -75.0, 87.0), ("", -2.0, 54.0)], None),
        ("EPSG:2193", [("", 178.4, -38.0)], None),
        ("EPSG:4326", [("", -75.0, 87.0)], None),
        ("EPSG:27700", [], None),
        ("a system without a code", [("", -75.0, 87.0)], None),
    ):
        note = note_on_area(name, places)
        assert (note is None) == (told is None), name
        assert note is None or (told in note and "far less accurate" in note)
