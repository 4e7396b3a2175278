"""Resources and lists as GeoJSON: chosen by a parameter or by ``Accept``, with the tags, pages and
sizes that JSON has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyogrio
import pytest

from app.api import envelope
from app.http import body_files
from app.policy.fields import ASSET, PROJECT
from tests.make import Client, make_asset, make_project, point, square
from tests.make.wavy import polygon

GEOJSON = "application/geo+json"
METADATA = {"name": "clash", "region": 6, "species": ["oak", "ash"]}


@pytest.fixture
def ids(client: Client) -> dict[str, str]:
    project = make_project(client, geometry=square(), metadata=METADATA)
    asset = make_asset(client, project["id"], location=point(), metadata={"serial": 7})
    return {"project": project["id"], "asset": asset["id"]}


@pytest.fixture
def paths(ids: dict[str, str]) -> dict[str, str]:
    """Every path that has GeoJSON, by the type of what it answers."""
    project, asset = ids["project"], ids["asset"]
    return {
        "/v1/projects": "FeatureCollection",
        f"/v1/projects/{project}": "Feature",
        "/v1/assets": "FeatureCollection",
        f"/v1/projects/{project}/assets": "FeatureCollection",
        f"/v1/projects/{project}/assets/{asset}": "Feature",
    }


def _names(fields: Any, without: str) -> list[str]:
    return [field.name for field in fields if field.name not in (without, "metadata")]


def test_a_project(client: Client, ids: dict[str, str]) -> None:
    path = f"/v1/projects/{ids['project']}"
    record, feature = client.get(path).json["data"], client.get(f"{path}?format=geojson").json
    assert list(feature) == ["type", "id", "geometry", "properties"]
    assert (feature["id"], feature["geometry"]) == (record["id"], record["geometry"])
    metadata = {"metadata_name": "clash", "region": 6, "species": ["oak", "ash"]}
    names = _names(PROJECT, "geometry")
    assert list(feature["properties"]) == [*names, *metadata]
    assert feature["properties"] == {name: record[name] for name in names} | metadata


def test_an_asset(client: Client, ids: dict[str, str]) -> None:
    path = f"/v1/projects/{ids['project']}/assets/{ids['asset']}"
    feature = client.get(path, headers={"Accept": GEOJSON}).json
    assert feature["geometry"] == point()
    assert list(feature["properties"]) == [*_names(ASSET, "location"), "serial"]


def test_a_project_without_a_boundary(client: Client) -> None:
    path = f"/v1/projects/{make_project(client)['id']}?format=geojson"
    assert client.get(path).json["geometry"] is None


@pytest.mark.both
def test_a_page(client: Client) -> None:
    made = [make_project(client, geometry=square(west)) for west in range(5)]
    page = client.get(
        "/v1/projects?format=geojson&per_page=2&page=2&sort=created_at&order=asc"
    ).json
    assert list(page) == [
        "type", "features", "numberMatched", "numberReturned", "timeStamp", "links",
    ]  # fmt: skip
    assert [feature["id"] for feature in page["features"]] == [each["id"] for each in made[2:4]]
    assert (page["numberMatched"], page["numberReturned"]) == (5, 2)


def test_links_keep_every_parameter(client: Client) -> None:
    for west in range(3):
        make_project(client, name=f"Oak & Söhne {west}", geometry=square(west))
    query = "search=oak%20%26&bbox=-5%2C-80%2C20%2C80&per_page=1&page=2&fields=name%2Cgeometry"
    response = client.get(f"/v1/projects?{query}", headers={"Accept": GEOJSON})
    links = {link["rel"]: link for link in response.json["links"]}
    assert {link["type"] for link in links.values()} == {GEOJSON}
    for rel, page in (("prev", "1"), ("next", "3")):
        address = urlsplit(links[rel]["href"])
        assert (address.scheme, address.netloc, address.path) == (
            "http",
            "localhost",
            "/v1/projects",
        )
        assert parse_qs(address.query) == {
            "search": ["oak &"],
            "bbox": ["-5,-80,20,80"],
            "per_page": ["1"],
            "fields": ["name,geometry"],
            "format": ["geojson"],
            "page": [page],
        }
        assert f'<{links[rel]["href"]}>; rel="{rel}"' in response.headers["Link"]
        followed = client.get(f"{address.path}?{address.query}")
        assert followed.content_type == GEOJSON
        assert followed.json["numberReturned"] == 1


def test_the_last_page_has_no_next(client: Client) -> None:
    make_project(client)
    assert client.get("/v1/projects?format=geojson").json["links"] == []
    past = client.get("/v1/projects?format=geojson&page=9").json
    assert (past["features"], past["numberMatched"], past["numberReturned"]) == ([], 1, 0)
    assert [link["rel"] for link in past["links"]] == ["prev"]


def test_which_form_a_client_gets(
    client: Client, paths: dict[str, str], subtests: pytest.Subtests
) -> None:
    for query, accept, form in (
        ("", None, "json"),
        ("", "*/*", "json"),
        ("", "Application/GEO+JSON", "geojson"),
        ("", "application/geo+json, application/json;q=0.9", "geojson"),
        ("", "application/geo+json;q=0.5, application/json", "json"),
        ("", "application/geo+json, */*;q=0.1", "geojson"),
        ("", "application/geo+json, application/json", "json"),
        ("", "application/geo+json;q=0", "json"),
        ("", "text/html", "json"),
        ("", "\x7f,;q=,application/geo+json;q=x", "json"),
        ("?format=json", "application/geo+json", "json"),
    ):
        with subtests.test(f"{query} {accept}"):
            headers = {} if accept is None else {"Accept": accept}
            response = client.get(f"/v1/projects{query}", headers=headers)
            assert response.headers["Vary"] == "Accept, Accept-Encoding"
            assert response.content_type == f"application/{form.replace('geo', 'geo+')}"
    for path, kind in paths.items():
        with subtests.test(path):
            plain = client.get(path)
            response = client.get(f"{path}?format=geojson", headers={"Accept": "application/json"})
            assert (response.content_type, response.json["type"]) == (GEOJSON, kind)
            tag = response.headers["ETag"]
            assert tag != plain.headers["ETag"]
            for sent, status in (
                (tag, 304), (plain.headers["ETag"], 200), (f'{tag[:-1]}-gzip"', 304),
            ):  # fmt: skip
                headers = {"If-None-Match": sent, "Accept": GEOJSON}
                assert client.get(path, headers=headers).status_code == status
            assert client.get(path, headers={"If-None-Match": tag}).status_code == 200
            refused = client.get(f"{path}?format=xml", headers={"Accept": GEOJSON})
            assert (refused.status_code, refused.content_type) == (400, "application/json")
            assert [each["field"] for each in refused.json["error"]["details"]] == ["format"]


def test_only_resources_with_a_geometry_have_it(client: Client) -> None:
    response = client.get("/v1/account", headers={"Accept": GEOJSON})
    assert response.content_type == "application/json"
    assert client.get("/v1/account?format=geojson").status_code == 400


def test_of_some_fields(client: Client, ids: dict[str, str]) -> None:
    (feature,) = client.get("/v1/projects?format=geojson&fields=name").json["features"]
    assert feature["geometry"] is None
    assert list(feature["properties"]) == ["id", "name"]
    (feature,) = client.get("/v1/projects?format=geojson&fields=metadata,geometry").json["features"]
    assert feature["geometry"] == square()
    assert list(feature["properties"]) == ["id", "metadata_name", "region", "species"]


@pytest.fixture
def _small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept in memory is less than a page of large boundaries."""
    monkeypatch.setattr(body_files, "IN_MEMORY", 300_000)
    for name, value in (("LARGE", 200_000), ("BLOCK", 20_000)):
        monkeypatch.setattr(envelope, name, value)


@pytest.mark.slow
@pytest.mark.usefixtures("_small_memory")
def test_a_large_page_is_that_of_its_records(client: Client) -> None:
    made = [make_project(client, geometry=polygon(1_000, west=n / 10)) for n in range(15)]
    with client.get("/v1/projects?format=geojson") as response:
        page, tag = json.loads(response.get_data()), response.headers["ETag"]
        assert int(response.headers["Content-Length"]) == len(response.get_data()) > 300_000
    assert [feature["id"] for feature in page["features"]] == [each["id"] for each in made[::-1]]
    assert page["features"][3]["geometry"] == made[11]["geometry"]
    assert page["numberReturned"] == 15
    headers = {"If-None-Match": tag}
    assert client.get("/v1/projects?format=geojson", headers=headers).status_code == 304


def test_gdal_reads_a_page(client: Client, ids: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "page.geojson"
    path.write_bytes(client.get("/v1/projects?format=geojson").get_data())
    found = pyogrio.read_info(path)
    assert (found["features"], found["geometry_type"], found["crs"]) == (1, "Polygon", "EPSG:4326")
    assert {"name", "area_hectares", "region", "metadata_name"} <= set(found["fields"])
