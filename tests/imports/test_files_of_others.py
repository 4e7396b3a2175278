"""Files as other programs write them, from the upload to what the lists and a map program get."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from pyproj import CRS

from app.formats.readers.opening import open_file
from app.imports.features.candidates import Candidate, ReadOptions, RejectedFeature, check_feature
from app.imports.features.mapping import LayerScan, guess_mapping
from tests.formats.readers.geopackages import changed, one_square
from tests.formats.readers.shapefiles import dbf, packed_as, parts, shp
from tests.imports.making import (
    act,
    answered,
    codes,
    counts,
    projects,
    uploaded,
)
from tests.make import Client, square
from tests.make.features import collection, feature

SQUARE: Final = square(10, 47, 0.01)  # in Tyrol, with 84.5443 ha
RING: Final = SQUARE["coordinates"][0]
OTHER: Final = square(11, 47, 0.01)
HECTARES: Final = 84.5443
TEXT: Final = json.dumps(SQUARE).replace('"', '""')
WKT: Final = "POLYGON ((10 47,10.01 47,10.01 47.01,10 47.01,10 47))"
WGS_84: Final = CRS.from_epsg(4326).to_wkt("WKT1_ESRI").encode()
UNKNOWN: Final = (
    b'PROJCS["RD 2008",GEOGCS["Amersfoort",DATUM["Amersfoort",SPHEROID["Bessel 1841",6377397.155,'
    b'299.1528128]],PRIMEM["Greenwich",0],UNIT["Degree",0.0174532925199433]],PROJECTION["Unknown"],'
    b'UNIT["Meter",1]]'
)
Made = Callable[[Path], bytes]


def sent(client: Client, content: bytes | str, name: str = "file", **form: Any) -> dict[str, Any]:
    """The import of a file that was read."""
    content = content.encode() if isinstance(content, str) else content
    return uploaded(client, content, name, **form)


def candidates(path: Path, kind: Literal["projects", "assets"] = "projects") -> list[Candidate]:
    """What the features of a file's first layer become, its columns read as they are guessed."""
    with closing(open_file(path)) as reader:
        rows = list(reader.read_features(reader.layers[0]))
    scan = LayerScan()
    for row in rows:
        scan.add(row)
    choices = ReadOptions(kind, guess_mapping(scan, kind, {}))
    prepared = [check_feature(row, choices, lambda _: None) for row in rows]
    rejected = [each for each in prepared if isinstance(each, RejectedFeature)]
    assert rejected == []
    return [each for each in prepared if isinstance(each, Candidate)]


def hectares(client: Client, record: dict[str, Any]) -> dict[str, float]:
    """The areas of the projects that an import makes, by their names, where nothing is open."""
    assert record["status"] == "ready", record["message"]
    assert counts(record)[1:] == (0, 0, 0), record["faults"]
    act(client, record, "apply")
    return {name: each["area_hectares"] for name, each in projects(client).items()}


def kml(inside: str) -> str:
    return f'<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{inside}</Document></kml>'


def placemark(shape: str) -> str:
    return f"<Placemark><name>A</name>{shape}</Placemark>"


AREA: Final = (
    "<Polygon><outerBoundaryIs><LinearRing><coordinates>"
    + " ".join(f"{x},{y},0" for x, y in RING)
    + "</coordinates></LinearRing></outerBoundaryIs></Polygon>"
)


def shapefile(
    folder: Path, prj: bytes, ring: Any = RING, start: str = "a", number: int = 1
) -> bytes:
    members: dict[str, bytes] = {}
    for each in range(number):
        path = start if number == 1 else f"{start}{each}"
        members |= {
            f"{path}.shp": shp(parts(ring[::-1])),
            f"{path}.dbf": dbf([(b"NAME", "C", 5, 0)], b" Alpha"),
            f"{path}.prj": prj,
        }
    return packed_as(folder, members).read_bytes()


def box(west: float, south: float, size: float) -> list[list[float]]:
    found: list[list[float]] = square(west, south, size)["coordinates"][0]
    return found


def kmz_with_photos(_: Path) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("doc.kml", kml(placemark(AREA)))
        for number in range(150):
            archive.writestr(f"images/{number}.jpg", b"x")
    return file.getvalue()


def features_of_geojson(*columns: dict[str, Any]) -> bytes:
    shapes = [square(10 + number / 50, 47, 0.01) for number in range(len(columns))]
    return collection(
        *(feature(shape, **values) for shape, values in zip(shapes, columns, strict=True))
    )


FILES: Final[dict[str, tuple[str | bytes | Made, dict[str, float]]]] = {
    "results of Earth Engine": (f'system:index,name,.geo\n0,A,"{TEXT}"\n', {"A": HECTARES}),
    "geometries alone": (f'WKT,\n"{WKT}"\n', {"Feature 1": HECTARES}),
    "a walk of ODK": (
        'name,plot\nA,"47 10 0 4.5;47 10.01 0 4.5;47.01 10.01 0 4.5;47 10 0 4.5"\n',
        {"A": HECTARES / 2},
    ),
    "a label beside the area": (
        kml(
            placemark(
                "<MultiGeometry><Point><coordinates>10.005,47.005</coordinates></Point>"
                f"{AREA}</MultiGeometry>"
            )
        ),
        {"A": HECTARES},
    ),
    "folders of Windows": (
        lambda folder: shapefile(folder, WGS_84, start="plots\\a"),
        {"Alpha": HECTARES},
    ),
    "photos in a KMZ": (kmz_with_photos, {"A": HECTARES}),
    "thirty shapefiles": (
        lambda folder: shapefile(folder, WGS_84, number=30),
        {"Alpha": HECTARES},
    ),
    "a rounding error at 180 degrees": (
        collection(feature({"type": "Polygon", "coordinates": [[
            [180.0000000000001705, -17], [180.0000000000001705, -16.9], [179.9, -16.9],
            [179.9, -17], [180.0000000000001705, -17],
        ]]}, name="Fiji")),
        {"Fiji": 11787.77},
    ),
    "areas and stands": (
        features_of_geojson(
            {"AREA": 215229.266, "PERIMETER": 1900.5, "STAND": "12a"},
            {"AREA": 118222.1, "PERIMETER": 1700.25, "STAND": "12b"},
        ),
        {"12a": HECTARES, "12b": HECTARES},
    ),
    "names that are all the same": (
        features_of_geojson({"name": "Forest", "label": "S1"}, {"name": "Forest", "label": "S2"}),
        {"S1": HECTARES, "S2": HECTARES},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_read_without_a_question(kind: str, tmp_path: Path) -> None:
    content, expected = FILES[kind]
    content = content(tmp_path) if callable(content) else content
    path = tmp_path / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    areas = {
        each.name: each.boundary.area_m2 / 10_000 for each in candidates(path) if each.boundary
    }
    assert areas == pytest.approx(expected, rel=1e-4)


def test_a_walk_of_odk_that_is_not_closed(client: Client) -> None:
    walk = ";".join(f"{y} {x} 500.5 4.5" for x, y in [*RING[:4], [10, 47.0001]])
    record = sent(client, f'name,geometry\nA,"{walk}"\n')
    assert (codes(record), counts(record)) == (["open_lines"], (0, 0, 0, 1))
    assert [note.split()[0] for note in record["notes"]] == ['"geometry"', "Heights"]
    closed = answered(client, record, close_lines=True)
    assert hectares(client, closed) == pytest.approx({"A": HECTARES}, rel=1e-4)


def test_places_of_tables(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content, place in (
        ('name,coordinates\nA,"47.005, 10.005"\n', [10.005, 47.005]),
        ("name,zone,easting,northing\nA,32N,5e5,52e5\n", [9, 46.95353]),
        ("name,gps\nA,-17.000 180.00000000000017\n", [180, -17]),
    ):
        path.write_text(content)
        (candidate,) = candidates(path, "assets")
        assert candidate.location is not None
        position = [candidate.location.longitude, candidate.location.latitude]
        assert position == pytest.approx(place, abs=1e-5), content


@pytest.mark.parametrize(
    ("prj", "west", "crs", "area", "told"),
    [
        (WGS_84, (500_000, 5_200_000), "EPSG:25832", 100.080, "though the file says EPSG:4326"),
        (
            UNKNOWN,
            (155_000, 463_000),
            "EPSG:28992",
            100.018,
            "Coordinates in RD 2008 cannot be transformed to WGS 84. Convert the",
        ),
    ],
    ids=["degrees", "unknown"],
)
def test_a_shapefile_that_says_a_wrong_system(
    client: Client, prj: bytes, west: Any, crs: str, area: float, told: str, tmp_path: Path
) -> None:
    content = shapefile(tmp_path, prj, box(*west, 1000))
    record = sent(client, content)
    assert (codes(record), record["crs"], sum(counts(record))) == (["crs"], None, 0)
    assert "look like meters, not degrees" in record["message"]
    assert told in record["message"] + "".join(record["notes"])
    refused = client.post(f"/v1/imports/{record['id']}/apply").json["error"]["details"]
    assert [each["field"] for each in refused] == ["crs"]
    record = answered(client, record, crs=crs)
    assert (record["crs"], counts(record), codes(record)) == (crs, (1, 0, 0, 0), [])
    record = sent(client, content, crs=crs)
    assert told in "".join(record["notes"])
    assert hectares(client, record) == pytest.approx({"Alpha": area}, rel=1e-5)


def test_degrees_are_no_meters_whatever_the_file_says(client: Client, tmp_path: Path) -> None:
    """They would be a few meters in the Gulf of Guinea."""
    content = shapefile(tmp_path, CRS("EPSG:32635").to_wkt("WKT1_ESRI").encode(), box(25, 45, 0.01))
    record = sent(client, content)
    assert (codes(record), record["crs"], sum(counts(record))) == (["crs"], None, 0)
    assert record["message"] == (
        "Positions such as (25, 45) look like degrees, though the file says EPSG:32635. Which "
        "coordinate system is it in?"
    )
    degrees, as_it_says = record["questions"][0]["options"]
    assert answered(client, record, **as_it_says["put"])["crs"] == "EPSG:32635"
    record = answered(client, record, **degrees["put"])
    assert (record["crs"], record["bbox"]) == ("EPSG:4326", [25, 45, 25.01, 45.01])
    own = CRS("EPSG:32635").to_wkt("WKT1_ESRI").replace('Meridian",27', 'Meridian",27.5').encode()
    record = sent(client, shapefile(tmp_path, own, box(25, 45, 0.01)))
    assert (record["status"], "crs" in codes(record)) == ("ready", False)  # no code to ask about


def test_a_geopackage_of_an_undefined_system(client: Client, tmp_path: Path) -> None:
    """In degrees, which are confirmed; of another, where it says none."""
    path = one_square(tmp_path, "UPDATE forests SET name = 'A'")
    content = changed(path, "UPDATE gpkg_geometry_columns SET srs_id = -1").read_bytes()
    record = sent(client, content)
    assert (codes(record), record["crs"], sum(counts(record))) == (["crs"], None, 0)
    record = answered(client, record, crs="EPSG:4326")
    assert (record["crs"], record["bbox"]) == ("EPSG:4326", [1, 2, 3, 4])
    assert hectares(client, sent(client, content, crs="EPSG:4326")).keys() == {"A"}


def test_plane_coordinates_and_names_of_japan(client: Client) -> None:
    crs, place = 2443, (129.505863, 32.185517)
    ring = [[552.8, -90314.9], [652.8, -90314.9], [652.8, -90214.9], [552.8, -90314.9]]
    shape = {"type": "MultiPolygon", "coordinates": [[ring]]}
    file = json.loads(collection(feature(shape, 名前="北の森", 樹種="杉")))
    file["crs"] = {"type": "name", "properties": {"name": f"urn:ogc:def:crs:EPSG::{crs}"}}
    record = sent(client, json.dumps(file))
    assert (record["crs"], codes(record)) == (f"EPSG:{crs}", [])
    assert hectares(client, record) == pytest.approx({"北の森": 0.5001}, rel=1e-3)
    made = projects(client)["北の森"]
    assert made["metadata"] == {"樹種": "杉"}
    assert made["geometry"]["coordinates"][0][0][0] == pytest.approx(place, abs=1e-6)


def test_whole_numbers_have_one_spelling_as_ids_and_names(client: Client, tmp_path: Path) -> None:
    fields = [(b"externalid", "N", 24, 15), (b"name", "N", 8, 1)]
    record = b" " + b"1001.000000000000000".ljust(24) + b"191.0".ljust(8)
    members = {"a.shp": shp(parts(RING[::-1])), "a.dbf": dbf(fields, record), "a.prj": WGS_84}
    for content, name in (
        (collection(feature(SQUARE, externalid=1001, name=191)), "a.geojson"),
        (collection(feature(SQUARE, externalid=1001.0, name=191.0)), "b.geojson"),
        (f'externalid,name,wkt\n1001.000000000000000,191.0,"{WKT}"\n'.encode(), "c.csv"),
        (packed_as(tmp_path, members).read_bytes(), "d.zip"),
    ):
        read = sent(client, content, name)
        assert counts(read) == ((1, 0, 0, 0) if name[0] == "a" else (0, 0, 1, 0)), name
        act(client, read, "apply" if name[0] == "a" else "cancel")
    (project,) = projects(client).values()
    assert (project["name"], project["external_id"]) == ("191", "1001")
