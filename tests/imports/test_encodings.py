"""Files that do not say the encoding of their texts, or a wrong one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import shapely

from app.geometry.countries import has_world
from tests.formats.readers.gdal import write, zipped
from tests.imports.making import act, answered, codes, features_of, projects, upload, uploaded
from tests.make import Client, make_project, square
from tests.make.features import feature

WKT = '"POLYGON((23.1 46.6,23.11 46.6,23.11 46.61,23.1 46.6))"'
ROWS = f"name,Pădure,wkt\nMărişel,Făget,{WKT}\n"


def names(client: Client, record: dict[str, Any]) -> list[str]:
    return [each["name"] for each in features_of(client, record)]


def test_the_country_says_which_encoding_comes_first(client: Client) -> None:
    record = uploaded(client, ROWS.encode("cp1250"), "a.csv")
    assert record["encoding"] == {"name": "cp1250", "guessed": True}
    (question,) = [each for each in record["questions"] if each["code"] == "encoding"]
    assert not question["required"]
    first, *others = question["options"]
    assert first["put"] == {"encoding": "cp1250"}
    assert first["sample"] == {"words": ["Pădure", "Mărişel", "Făget"]}
    assert others
    assert names(client, record) == ["Mărişel"]
    assert record["notes"][0].startswith("The file does not say the encoding of its texts, and was")
    record = answered(client, record, **first["put"])
    assert (record["encoding"], codes(record)) == ({"name": "cp1250", "guessed": False}, [])
    act(client, record, "apply")
    assert projects(client)["Mărişel"]["metadata"] == {"Pădure": "Făget"}


@pytest.mark.skipif(not has_world(), reason="The countries are not installed.")
def test_the_same_bytes_are_read_by_where_they_are(client: Client) -> None:
    """Hungarian and Portuguese letters are the same bytes."""
    make_project(client, geometry=square(19.0, 47.0, 0.01))
    for place, encoding in (
        ("18.0,47.5", "cp1250"),  # Erdő
        ("-8.0,39.5", "cp1252"),  # Erdõ
        (",", "cp1250"),  # as the account's projects
    ):
        x, _, y = place.partition(",")
        content = b"name,lon,lat\nErd\xf5,%s,%s\n" % (x.encode(), y.encode())
        record = uploaded(client, content, "a.csv")
        assert record["encoding"] == {"name": encoding, "guessed": True}, place


def test_columns_that_another_encoding_renames_are_guessed_again(client: Client) -> None:
    mapping = {"name": "Pădure", "metadata": ["name"]}
    record = uploaded(client, ROWS.encode("cp1250"), "a.csv", mapping=mapping)
    assert names(client, record) == ["Făget"]
    record = answered(client, record, encoding="cp1250")
    assert names(client, record) == ["Făget"]
    record = answered(client, record, encoding="windows-1252")
    assert record["encoding"] == {"name": "cp1252", "guessed": False}
    assert {name: record["mapping"][name] for name in mapping} == {**mapping, "name": "name"}
    assert answered(client, record, mapping={"name": "Pădure"})["status"] == "failed"


def test_an_unknown_encoding_is_refused(client: Client) -> None:
    response = upload(client, ROWS.encode(), "a.csv", encoding="rot13")
    assert response.status_code == 422
    (detail,) = response.json["error"]["details"]
    assert detail["field"] == "encoding"
    assert "cp1250" in detail["message"]


def test_encodings_that_the_file_says_are_no_question(client: Client) -> None:
    for encoding, name in (("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("utf-16", "utf-16")):
        record = uploaded(client, ROWS.encode(encoding), "a.csv")
        assert (record["encoding"], codes(record)) == ({"name": name, "guessed": False}, [])
        assert names(client, record) == ["Mărişel"]
    record = uploaded(client, b'{"type": "Point", "coordinates": [1, 2]}', "a.geojson")
    assert record["encoding"] is None


def test_a_shapefile_without_its_code_page(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    write(
        folder / "a.shp",
        "ESRI Shapefile",
        [shapely.box(23.1, 46.6, 23.11, 46.61)],
        columns={"name": ["Mărişel"]},
        geometry_type="Polygon",
        encoding="CP1250",
    )
    dbf = folder / "a.dbf"
    content = bytearray(dbf.read_bytes())
    content[29] = 0  # the byte that names a code page
    dbf.write_bytes(content)
    record = uploaded(client, zipped(folder, ".cpg").read_bytes(), "a.zip")
    assert record["encoding"] == {"name": "cp1250", "guessed": True}
    assert (codes(record), names(client, record)) == (["encoding"], ["Mărişel"])


def test_texts_that_were_read_twice_are_noticed(client: Client) -> None:
    name = "Wäldchen moji – Süd"
    made = make_project(client, name=name, metadata={"Größe": "Über 5"})
    for encoding in ("cp1252", "cp1250", "cp1251"):
        exported = client.get("/v1/exports/projects?format=csv").get_data().decode()
        spoiled = exported.encode().decode(encoding, "replace")
        assert name not in spoiled
        record = uploaded(client, spoiled.encode(), "a.csv")
        (question,) = record["questions"]
        (option,) = question["options"]
        assert name in option["sample"]["words"]
        assert any("would replace texts" in note for note in record["notes"])
        record = answered(client, record, **option["put"])
        assert (record["encoding"]["name"], codes(record)) == ("utf-8-twice", [])
        (row,) = features_of(client, record)
        assert (row["verdict"], row["project_id"]) == ("same", made["id"])
    assert codes(answered(client, record, encoding=None)) == ["encoding"]


def test_places_are_asked_for_though_texts_were_read_twice(client: Client) -> None:
    rows = f"name,géom,andère\nWäld,{WKT},{WKT.replace('23.1', '24.1')}\n"
    record = uploaded(client, rows.encode().decode("cp1252").encode(), "a.csv")
    assert codes(record) == ["geometry", "encoding"]
    twice = answered(client, record, encoding="utf-8-twice")
    assert (codes(twice), names(client, twice)) == (["geometry"], ["Wäld"])
    assert twice["mapping"]["geometry"] == record["mapping"]["geometry"]


@pytest.mark.parametrize("declared", ["", '<?xml version="1.0" encoding="gbk"?>'])
def test_xml_and_json_that_are_not_unicode(client: Client, declared: str) -> None:
    encoding = "gbk" if declared else "cp1250"
    name = "森林" if declared else "Mărişel"
    ring = [[23.1, 46.6], [23.11, 46.6], [23.11, 46.61], [23.1, 46.6]]
    corners = " ".join(f"{x},{y}" for x, y in ring)
    kml = (
        f"{declared}<kml><Placemark><name>{name}</name><Polygon><outerBoundaryIs><LinearRing>"
        f"<coordinates>{corners}</coordinates></LinearRing></outerBoundaryIs></Polygon>"
        "</Placemark></kml>"
    )
    record = uploaded(client, kml.encode(encoding), "a.kml")
    assert record["encoding"] == {"name": encoding, "guessed": not declared}
    assert names(client, record) == [name]
    geojson = json.dumps(
        feature({"type": "Polygon", "coordinates": [ring]}, name="Mărişel"), ensure_ascii=False
    )
    for written, given in (("cp1250", {}), ("utf-16", {}), ("cp852", {"encoding": "cp852"})):
        record = uploaded(client, geojson.encode(written), "a.geojson", **given)
        assert record["encoding"]["name"] == written
        assert names(client, record) == ["Mărişel"]
