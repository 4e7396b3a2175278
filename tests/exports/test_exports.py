"""GET /v1/exports/projects and /v1/exports/assets."""

from __future__ import annotations

import errno
import json
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyogrio
import pytest

from app.account.lookup import read_account
from app.eudr import writer
from app.exports import service
from app.exports.service import FORMATS, Export
from app.policy.files import EUDR_FORMATS, FORMATS_OUT
from tests.contract import decoded
from tests.countries import needs_countries
from tests.formats.writers.sources import read_layer
from tests.make import (
    Client,
    make_asset,
    make_key,
    make_project,
    multi_square,
    point,
    square,
)
from tests.make.geometry import square_ring

EUDR = "format=eudr&producer_name=Jo%20Oak&producer_country=de"
HOLED = {
    "type": "Polygon",
    "coordinates": [square_ring(size=1.0), square_ring(10.2, 50.2, 0.3)[::-1]],
}


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    """Of an account with two projects and three assets."""
    make_project(client, name="Empty")
    made = make_project(
        client, name="Wald", geometry=multi_square((1, 1), (3, 3)), metadata={"region": 6}
    )
    for longitude in (1.5, 2.5, 3.5):
        make_asset(client, made["id"], location=point(longitude), metadata={"serial": longitude})
    return made


def _features(client: Client, path: str, **options: Any) -> list[dict[str, Any]]:
    response = client.get(path, **options)
    assert response.status_code == 200, response.get_data(as_text=True)
    return json.loads(response.get_data())["features"]


def _details(response: Any) -> dict[str, str]:
    assert response.status_code == 400
    return {each["field"]: each["message"] for each in response.json["error"]["details"]}


def test_who_asks_for_bytes_gets_them(client: Client, project: dict[str, Any]) -> None:
    accept = {"Accept": "application/octet-stream, */*;q=0.1"}
    response = client.get("/v1/exports/assets?format=gpkg", headers=accept)
    assert response.content_type == "application/octet-stream"
    assert response.get_data().startswith(b"SQLite format 3")


@pytest.mark.both
def test_every_format_is_read_by_others(
    client: Client, project: dict[str, Any], tmp_path: Path
) -> None:
    for kind, expected in (("projects", 2), ("assets", 3)):
        for format_name in (each for each in FORMATS[kind] if each not in EUDR_FORMATS):
            response = client.get(f"/v1/exports/{kind}?format={format_name}")
            media_type, ending = FORMATS_OUT[format_name]
            assert response.content_type == media_type
            path = tmp_path / f"{format_name}.{ending}"
            path.write_bytes(response.get_data())
            layer = read_layer(path, "waypoints" if format_name == "gpx" else None)
            assert len(layer.geometries) == expected, (kind, format_name)
            if format_name in ("geojson", "gpkg", "kml"):
                assert [name for name, _ in pyogrio.list_layers(path)] == [kind]


def test_the_name_of_the_file(client: Client) -> None:
    make_project(client, geometry=square())
    with client.app.app_context():
        slug = read_account(client.account_id)["slug"]
    today = datetime.now(UTC).date()
    for query, name in (
        ("projects?format=geojson", f"{slug}-projects-{today}.geojson"),
        ("projects", f"{slug}-projects-{today}.geojson"),
        (f"projects?{EUDR}", f"{slug}-projects-eudr-{today}.geojson"),
        (f"projects?{EUDR}&divide=true", f"{slug}-projects-eudr-{today}.zip"),
        ("assets?format=shp", f"{slug}-assets-{today}.shp.zip"),
    ):
        headers = client.get(f"/v1/exports/{query}").headers
        assert headers["Content-Disposition"] == f'attachment; filename="{name}"'
        assert headers["Cache-Control"] == "private, no-cache"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_no_slug_can_break_the_header() -> None:
    name = service.export_filename(
        'a"\r\nSet-Cookie: x=1; filename="b/../é', Export("projects", "csv", "a")
    )
    assert re.fullmatch(r"[a-z0-9-]+\.csv", name)


@pytest.mark.both
def test_the_filters_are_those_of_the_list(client: Client, subtests: pytest.Subtests) -> None:
    for number in range(6):
        made = make_project(client, name=f"Forest {number}", geometry=square(number * 2))
        if number % 2:
            client.post(f"/v1/projects/{made['id']}/archive")
    for query in ("status=archived", "search=FOREST%203", "bbox=3,0,7,60", "slug=forest-2"):
        with subtests.test(query):
            listed = client.get(f"/v1/projects?sort=created_at&order=asc&{query}").json["data"]
            found = _features(client, f"/v1/exports/projects?{query}")
            assert [each["id"] for each in found] == [each["id"] for each in listed]
            assert found


def test_assets_of_a_project(client: Client, project: dict[str, Any]) -> None:
    other = make_project(client)["id"]
    make_asset(client, other, type="camera")
    path = "/v1/exports/assets"
    assert len(_features(client, path)) == 4
    assert len(_features(client, f"{path}?project_id={other}")) == 1
    assert len(_features(client, f"{path}?type=camera&status=active")) == 1
    assert _features(client, f"{path}?project_id=proj_01arz3ndektsv4rrffq69g5fav") == []


def test_of_another_account_nothing_is_there(
    client: Client, stranger: Client, project: dict[str, Any]
) -> None:
    assert _features(stranger, "/v1/exports/projects") == []
    assert _features(stranger, f"/v1/exports/projects?ids={project['id']}") == []
    assert _features(stranger, f"/v1/exports/assets?project_id={project['id']}") == []


def test_what_is_refused(client: Client) -> None:
    for query, field in (
        ("projects?format=xlsx", "format"),
        ("projects?format=gpx", "format"),
        ("assets?format=eudr&type=equipment", "type"),
        ("assets?format=eudr&points=true", "points"),
        ("projects?format=eudr&variant=3", "variant"),
        ("projects?format=eudr&producer_country=UK", "producer_country"),
        ("projects?points=true", "points"),
        ("projects?page=2", "page"),
        ("projects?status=gone", "status"),
        ("projects?bbox=1,2,3", "bbox"),
        ("assets?producer_name=Jo", "producer_name"),
        ("projects?producer_name=Jo", "producer_name"),
        ("projects?format=kml&holes=ignore", "holes"),
        ("projects?format=eudr&producer_country=Germany", "producer_country"),
        ("projects?format=eudr&producer_country=D%0A", "producer_country"),
        ("projects?format=eudr&holes=cut", "holes"),
        ("projects?format=csv&format=kml", "format"),
    ):
        assert list(_details(client.get(f"/v1/exports/{query}"))) == [field], query
    assert "gpx is for assets." in client.get("/v1/exports/projects?format=gpx").text


def test_plots_that_are_points_for_the_eudr(client: Client) -> None:
    made = make_project(client, name="Without a boundary")
    make_asset(client, made["id"], type="plot", name="P", location=point(10.5, 50.5))
    make_asset(client, made["id"], type="plot", name="Nowhere")
    make_asset(client, made["id"], name="No plot", location=point(10.6, 50.6))
    other = make_project(client, name="Other", geometry=square(20))
    make_asset(client, other["id"], type="plot", name="Q", location=point(20.5, 50.5))
    for query, places in (
        (f"projects?{EUDR}", ["Other"]),
        (f"projects?{EUDR}&points=true&ids={other['id']}", ["Other", "Q"]),
        (f"projects?{EUDR}&points=true&boundaries=false&ids={other['id']}", ["Q"]),
        (f"projects?{EUDR}&points=true&boundaries=false&search=other", ["Q"]),
        (f"assets?{EUDR}&project_id={other['id']}", ["Q"]),
        (f"assets?{EUDR}&search=P&bbox=10,50,11,51", ["P"]),
    ):
        found = _features(client, f"/v1/exports/{query}")
        assert [each["properties"]["ProductionPlace"] for each in found] == places
    (detail,) = client.get(f"/v1/exports/projects?{EUDR}&points=true").json["error"]["details"]
    assert detail["code"] == "no_place"


@needs_countries
def test_a_country_is_that_of_each_plot(client: Client) -> None:
    in_germany = make_project(client, name="G", geometry=square(10))
    make_asset(client, in_germany["id"], type="plot", name="In Poland", location=point(20.5, 50.5))
    without = make_project(client, name="Without a boundary")
    make_asset(client, without["id"], type="plot", name="P", location=point(10.5, 50.5))
    name = client.get(f"/v1/exports/projects?{EUDR}&country=DE").headers["Content-Disposition"]
    assert "-projects-eudr-de-20" in name
    for query, places in (
        ("country=DE", ["G"]),
        ("country=DE&points=true", ["G", "P"]),
        ("country=PL&points=true", ["In Poland"]),
    ):
        found = _features(client, f"/v1/exports/projects?{EUDR}&{query}")
        assert [each["properties"]["ProductionPlace"] for each in found] == places


def test_plots_that_are_points_need_a_permission(client: Client) -> None:
    make_project(client, geometry=square())
    limited = make_key(client, permissions=["projects:read"])
    assert limited.get(f"/v1/exports/projects?{EUDR}").status_code == 200
    refused = limited.get(f"/v1/exports/projects?{EUDR}&points=true")
    assert refused.status_code == 403
    assert "assets:read" in refused.json["error"]["message"]


def test_a_file_that_is_too_large_is_rejected_before_anything_is_sent(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        make_project(client, geometry=square(3 * number))
    monkeypatch.setattr(writer, "FILE_BYTES", 400)
    response = client.get(f"/v1/exports/projects?{EUDR}")
    assert "divide=true" in _details(response)["format"]
    assert response.content_type == "application/json"
    assert client.get(f"/v1/exports/projects?{EUDR}&divide=true").content_type == "application/zip"


@pytest.mark.provokes(503)
def test_a_full_disk(
    client: Client, project: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    old = {"environ_overrides": {"SERVER_PROTOCOL": "HTTP/1.0"}}  # gets only what is complete
    for path, how in (
        ("/v1/exports/projects?format=gpkg", {}),
        ("/v1/exports/projects?format=shp", {}),
        (f"/v1/exports/projects?{EUDR}&search=Wald", {}),
        ("/v1/exports/projects", old),
        ("/v1/eudr", {}),
    ):
        with monkeypatch.context() as patched:
            for name in ("TemporaryFile", "mkdtemp"):
                patched.setattr(tempfile, name, full)
            patched.setattr("app.formats.writers.shapefile.TemporaryFile", full)
            response = client.get(path, **how)
            assert response.status_code == 503, path
            assert "no room" in response.json["error"]["message"]
        assert client.get(path, **how).status_code == 200, path


def test_texts_are_compressed_while_they_are_sent(client: Client, project: dict[str, Any]) -> None:
    codings = (("geojson", "gzip"), ("geojsonl", "zstd"), ("csv", "gzip"), ("kml", "zstd"))
    for format_name, coding in codings:
        path = f"/v1/exports/projects?format={format_name}"
        plain = client.get(path).get_data()
        response = client.get(path, headers={"Accept-Encoding": coding})
        assert response.headers["Content-Encoding"] == coding
        assert "Content-Length" not in response.headers
        assert decoded(response.get_data(), coding) == plain, format_name


def test_files_that_are_compressed_already_have_a_length(
    client: Client, project: dict[str, Any]
) -> None:
    for format_name in ("gpkg", "shp"):
        headers = {"Accept-Encoding": "gzip"}
        response = client.get(f"/v1/exports/projects?format={format_name}", headers=headers)
        assert "Content-Encoding" not in response.headers
        assert int(response.headers["Content-Length"]) == len(response.get_data())


def test_it_counts_as_one_request(client: Client, project: dict[str, Any]) -> None:
    def used() -> int:
        return client.get("/v1/account/usage").json["data"]["api_requests"]["current"]

    before = used()
    client.get("/v1/exports/projects?format=csv")
    assert used() == before + 2
