"""What was exported, and written again by GDAL, changes nothing when it is imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyogrio
import pytest

from app.policy.files import FORMATS_OUT
from app.policy.imports import VERDICTS
from tests.formats.readers.gdal import DISTRICTS, write, zipped
from tests.imports.making import act, features_of, ready, uploaded
from tests.make import Client, make_asset, make_project, point, square
from tests.make.features import feature

pytestmark = [
    pytest.mark.filterwarnings("ignore:Normalized/laundered field name"),  # of shapefiles
    pytest.mark.filterwarnings("ignore:Value 'MULTIPOLYGON"),  # a text of a shapefile, cut off
]

EXPORTED: Final = ("geojson", "geojsonl", "csv", "kml", "gpkg", "shp")
# What GDAL writes each format with, and how.
WRITTEN: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "geojson": ("GeoJSON", {}),
    "geojsonl": ("GeoJSONSeq", {"layer_options": {"COORDINATE_PRECISION": "9"}}),  # 7 by default
    "csv": ("CSV", {"layer_options": {"GEOMETRY": "AS_WKT"}}),
    "kml": ("KML", {}),
    "gpkg": ("GPKG", {}),
    "shp": ("ESRI Shapefile", {"encoding": "UTF-8"}),
}


@pytest.fixture
def districts(client: Client) -> int:
    """Some districts with metadata of each type. Gives their number."""
    for number, each in enumerate(DISTRICTS[:8]):
        make_project(
            client,
            name=each["properties"]["district"],
            geometry=each["geometry"],
            description="A text, “quoted”; über Wälder",
            metadata={"region": number, "share": number / 7, "old": number % 2 == 0, "code": "007"},
        )
    make_project(client, name="Without a boundary", geometry=None, external_id="W-1")
    return 9


def exported(client: Client, name: str, folder: Path) -> Path:
    response = client.get(f"/v1/exports/projects?format={name}")
    assert response.status_code == 200, response.get_data(as_text=True)
    path = folder / f"exported.{FORMATS_OUT[name][1]}"
    path.write_bytes(response.get_data())
    return path


def written_again(source: Path, name: str, folder: Path) -> Path:
    """A copy of the layer by GDAL."""
    options = {"GEOM_POSSIBLE_NAMES": "geometry"} if source.suffix == ".csv" else {}
    opened = f"/vsizip/{source}" if source.suffix == ".zip" else source
    meta, _, shapes, values = pyogrio.raw.read(opened, datetime_as_string=True, **options)
    driver, how = WRITTEN[name]
    target = folder / "again"
    target.mkdir()
    pyogrio.raw.write(
        target / f"districts.{name}",
        shapes,
        [np.asarray(each) for each in values],
        list(meta["fields"]),
        driver=driver,
        crs="EPSG:4326",
        geometry_type="MultiPolygon" if name in ("gpkg", "shp") else "Unknown",
        promote_to_multi=name in ("gpkg", "shp"),
        **how,
    )
    return zipped(target) if name == "shp" else target / f"districts.{name}"


def counts(client: Client, path: Path) -> dict[str, int]:
    """What importing a file would do, by verdict."""
    record = uploaded(client, path.read_bytes(), path.name)
    assert record["status"] == "ready", record["message"]
    different = [each for each in features_of(client, record) if each["verdict"] != "same"]
    assert different == []
    return {word: record["counts"][word] for word in VERDICTS if record["counts"][word]}


@pytest.mark.slow
def test_an_export_changes_nothing(client: Client, districts: int, tmp_path: Path) -> None:
    for name in EXPORTED:
        assert counts(client, exported(client, name, tmp_path)) == {"same": districts}, name


@pytest.mark.trial
@pytest.mark.parametrize("before", EXPORTED)
@pytest.mark.parametrize("after", WRITTEN)
def test_an_export_that_gdal_has_written_again_changes_nothing(
    client: Client, districts: int, before: str, after: str, tmp_path: Path
) -> None:
    copy = written_again(exported(client, before, tmp_path), after, tmp_path)
    assert counts(client, copy) == {"same": districts}


def test_an_export_of_a_name_that_was_cut_changes_nothing(client: Client, tmp_path: Path) -> None:
    long, note = "Old oaks by the lake " * 12, "a\x96b"
    act(client, ready(client, feature(square(), name=long, note=note)), "apply")
    for name in ("geojson", "csv", "kml", "shp"):
        assert counts(client, exported(client, name, tmp_path)) == {"same": 1}, name


@pytest.mark.slow
def test_what_was_edited_in_an_export_is_all_that_changes(
    client: Client, districts: int, tmp_path: Path
) -> None:
    path = exported(client, "geojson", tmp_path)
    collection = json.loads(path.read_text())
    edited = collection["features"][1]["properties"]
    edited |= {"name": "Renamed", "description": "Edited."}
    path.write_text(json.dumps(collection))
    for form in ({}, {"match": "name"}):
        record = uploaded(client, path.read_bytes(), path.name, **form)
        assert (record["counts"]["changed"], record["counts"]["same"]) == (1, districts - 1)
        (changed,) = features_of(client, record, verdict="changed")
        assert changed["changes"] == ["name", "description"]
    act(client, record, "apply")
    project = client.get(f"/v1/projects/{edited['id']}").json["data"]
    assert (project["name"], project["description"]) == ("Renamed", "Edited.")


def test_exported_assets_are_imported_into_their_own_project(
    client: Client, tmp_path: Path
) -> None:
    one, other = make_project(client, name="One"), make_project(client, name="Other")
    for project in (one, other):
        make_asset(client, project["id"], name="Post", location=point(1.5))
    content = client.get("/v1/exports/assets?format=geojson").get_data()
    record = uploaded(client, content, "a.geojson", kind="assets", project_id=one["id"])
    assert (record["counts"]["same"], record["counts"]["rejected"]) == (1, 1)
    (rejected,) = features_of(client, record, verdict="rejected")
    assert f"belongs to the project {other['id']}" in rejected["problems"][0]["message"]


@pytest.mark.slow
def test_an_export_of_assets_changes_nothing(client: Client) -> None:
    project_id = make_project(client)["id"]
    for number in range(3):
        make_asset(
            client,
            project_id,
            name="Trap",
            type="trap",
            location={"type": "Point", "coordinates": [number / 8, 1.5, *[612.5] * (number == 1)]},
            external_id=f"T {number}/ä",
            metadata={"code": "007", "baited": number % 2 == 0, "desc": "A trap", "hdop": 1.5},
        )
    make_asset(client, project_id, name="Without one", location=point(2.5))
    for name in (*EXPORTED, "gpx"):
        content = client.get(f"/v1/exports/assets?format={name}").get_data()
        form = {"kind": "assets", "project_id": project_id}
        record = uploaded(client, content, f"traps.{FORMATS_OUT[name][1]}", **form)
        assert record["match"] == "external_id", record
        assert {word: record["counts"][word] for word in VERDICTS} == {
            "new": 0, "changed": 0, "same": 4, "rejected": 0,
        }  # fmt: skip


def test_what_was_edited_in_a_gpx_file_changes(client: Client) -> None:
    project_id = make_project(client)["id"]
    metadata = {"description": "A trap", "time": "2026-01-02T03:04:05Z", "tags": [1]}
    make_asset(
        client, project_id, name="Trap", location=point(), external_id="T1", metadata=metadata
    )
    content = client.get("/v1/exports/assets?format=gpx").get_data(as_text=True)
    edited = content.replace("<desc>A trap", "<desc>Gone").replace("<name>Trap", "<name>Snare")
    form = {"kind": "assets", "project_id": project_id}
    act(client, uploaded(client, edited.encode(), "t.gpx", **form), "apply")
    (asset,) = client.get(f"/v1/projects/{project_id}/assets").json["data"]
    assert (asset["name"], asset["external_id"]) == ("Snare", "T1")
    assert asset["metadata"] == metadata | {"description": "Gone"}


def test_exported_assets_are_the_same_in_another_project(client: Client) -> None:
    """But for the column that says which project they were in."""
    one, other = make_project(client)["id"], make_project(client)["id"]
    make_asset(client, one, name="Trap", external_id="T-1", location=point())
    exported = client.get("/v1/exports/assets?format=geojson").json
    for each in exported["features"]:
        del each["properties"]["project_id"]
    form = {"kind": "assets", "project_id": other}
    for expected in ("new", "same"):
        content = json.dumps(exported).encode()
        record = uploaded(client, content, "traps.geojson", **form)
        assert record["counts"][expected] == 1
        if expected == "new":
            act(client, record, "apply")
    (made,) = client.get(f"/v1/projects/{other}/assets").json["data"]
    assert made["external_id"] == "T-1"


def test_the_layers_that_are_not_read_are_named(client: Client, tmp_path: Path) -> None:
    path = write(tmp_path / "several.gpkg", "GPKG", layer="north")
    write(path, "GPKG", layer="south", append=True)
    record = uploaded(client, path.read_bytes(), path.name)
    assert record["layer"] == "north"
    assert "Only the layer north was read. The file also has: south (24)." in record["notes"]


def test_all_folders_of_kml_are_read_also_in_a_kmz_file(client: Client, tmp_path: Path) -> None:
    place = "<Placemark><name>{}</name><Point><coordinates>1,2</coordinates></Point></Placemark>"
    folders = "".join(f"<Folder><name>{n}</name>{place.format(n)}</Folder>" for n in "AB")
    folder = tmp_path / "doc"
    folder.mkdir()
    path = folder / "doc.kml"
    path.write_text(
        f'<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{folders}</Document></kml>'
    )
    for one in (path, zipped(folder)):
        record = uploaded(client, one.read_bytes(), one.name)
        assert (record["layer"], record["progress"]["total"]) == ("All folders", 2)
