"""The faults that the Commission's text lists, by every door: the same words everywhere, and what
passes is what the Information System takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.eudr.validator import faults_of
from tests.imports.making import act, features_of, ready
from tests.make import Client, make_asset, make_project, point, square
from tests.make.features import feature
from tests.pages.support import browser_of, post

NAME, COUNTRY, PLACE, AREA = "ProducerName", "ProducerCountry", "ProductionPlace", "Area"
OWN = {NAME: "Ama Mensah", COUNTRY: "GH", PLACE: "Tepa"}
FIELD = square(-2, 6.5, size=0.002)
HOLE = square(-1.9995, 6.5005, size=0.001)["coordinates"][0][::-1]
THIN = [[-2, 6], [-1.99, 6], [-1.995, 6.0000001], [-2, 6]]  # a straight line at six decimals
NEAR = [[-2, 6], [-1.9999998, 6], [-2, 6.0000002], [-2, 6]]  # all the same there
PINCHED = [
    [-2, 6], [-1.998, 6], [-1.998, 6.002], [-1.99900001, 6.001], [-2, 6.002],
    [-2, 6.0011], [-1.99900004, 6.001], [-2, 6.0009], [-2, 6],
]  # fmt: skip


def polygon(*rings: Any) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


# What is stored, and is no plot for the system: the code, the geometry, what the metadata have,
# a parameter of the file.
UNFIT: dict[str, tuple[str, Any, dict[str, Any], str]] = {
    "no country": ("country_missing", FIELD, {COUNTRY: ""}, ""),
    "a wrong country": ("country_invalid", FIELD, {COUNTRY: "UK"}, ""),
    "no code": ("country_invalid", FIELD, {COUNTRY: "Ghana"}, ""),
    "a letter that is two in capitals": ("country_invalid", FIELD, {COUNTRY: "ß"}, ""),
    "a hole": ("hole", polygon(FIELD["coordinates"][0], HOLE), {}, "&holes=refuse"),
    "a straight line": ("breaks_at_six_decimals", polygon(THIN), {}, ""),
    "duplicates": ("breaks_at_six_decimals", polygon(NEAR), {}, ""),
    "overlapping sides": ("breaks_at_six_decimals", polygon(PINCHED), {}, ""),
    "an area of 0": ("area_invalid", FIELD, {AREA: 0}, ""),
    "a long name": ("too_long", FIELD, {NAME: "x" * 501}, ""),
    "a point of 5 ha": ("point_over_4_ha", point(-2, 6.5), {AREA: 5}, ""),
    "a point of 5 ha as text": ("point_over_4_ha", point(-2, 6.5), {AREA: "5"}, ""),
    "a point of 0 ha": ("area_invalid", point(-2, 6.5), {AREA: 0}, ""),
    "a point without a country": ("country_missing", point(-2, 6.5), {COUNTRY: None}, ""),
}
# What is no boundary or point at all, and its code.
INVALID: dict[str, tuple[str, Any]] = {
    "crossing lines": ("self_intersection", polygon([[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]])),
    "overlapping sides": (
        "self_intersection", polygon([[0, 0], [2, 0], [2, 2], [2, 1], [0, 1], [0, 0]]),
    ),
    "an open polygon": ("not_closed", polygon([[0, 0], [1, 0], [1, 1], [0, 1]])),
    "a straight line": ("zero_area", polygon([[0, 0], [1, 1], [3, 3], [0, 0]])),
    "out of range": ("out_of_range", polygon([[181, 0], [182, 0], [182, 1], [181, 0]])),
}  # fmt: skip


@pytest.mark.both
def test_what_is_no_plot_leaves_by_no_door(client: Client, subtests: pytest.Subtests) -> None:
    browser = browser_of(client)
    for name, (code, geometry, fault, more) in UNFIT.items():
        is_point = geometry["type"] == "Point"
        kept = {key: value for key, value in (OWN | fault).items() if value is not None}
        columns = {key: value for key, value in kept.items() if value != ""}
        content = feature(geometry, name=name, **columns)
        holder = make_project(client, name=f"For {name}")["id"] if is_point else ""
        form = {"kind": "assets", "project_id": holder} if is_point else {}
        record = ready(client, content, **form)
        act(client, record, "apply")
        kind = "assets" if is_point else "projects"
        (made,) = client.get(f"/v1/{kind}?import_id={record['id']}").json["data"]
        query = f"points=true{more}"
        export = "/v1/exports/projects?format=eudr"
        found = client.get(f"/v1/eudr?ids={made['id']}&{query}").json["data"]["problems"]
        words = [(each["code"], each["message"]) for each in found]
        with subtests.test(name):
            assert [each for each, _ in words] == [code]
            doors = [
                f"{export}&ids={made['id']}&{query}",
                f"{export}&import_id={record['id']}&{query}",
                f"{export}&import_id={record['id']}&variant=2&divide=true&{query}",
            ]
            if is_point:
                doors.append(f"/v1/exports/assets?format=eudr&import_id={record['id']}")
                doors.append(f"{export}&search=For {name}&{query}")
                for path in ("/v1/eudr?", f"{export}&"):  # which would leave it out
                    refused = client.get(f"{path}ids={made['id']}")
                    assert refused.status_code == 400
                    assert refused.json["error"]["details"][0]["field"] == "ids"
            else:
                doors.append(f"{export}&search={name}&{query}")
            for path in doors:
                answer = client.get(path)
                assert answer.status_code == 400, path
                details = answer.json["error"]["details"]
                assert [(each["code"], each["message"]) for each in details] == words, path
            for path in (f"ids={made['id']}{more}", f"import_id={record['id']}{more}"):
                page = browser.get(f"/eudr/download?{path}")
                assert page.status == 400, path
                assert " ".join(words[0][1].split()) in page.text, path
                assert not [
                    link for link in browser.get(f"/eudr?{path}").links if "download" in link
                ]
            if not more:
                page = post(browser, f"/{kind}/export", format="eudr", ids=[made["id"]])
                assert page.status == 303
                assert page.response.headers["Location"] == f"/eudr?ids={made['id']}"


def test_what_is_no_boundary_comes_in_by_no_door(client: Client, subtests: pytest.Subtests) -> None:
    for name, (code, geometry) in INVALID.items():
        item = {"type": "Feature", "geometry": geometry, "properties": {"name": name, **OWN}}
        with subtests.test(name):
            for path, body in (
                ("/v1/projects", {"name": name, "geometry": geometry}),
                ("/ogc/collections/projects/items", item),
            ):
                refused = client.post(path, json=body)
                assert refused.status_code == 422, path
                assert {each["code"] for each in refused.json["error"]["details"]} == {code}, path
            checked = client.post("/v1/geometry/validate", json={"geometry": geometry}).json["data"]
            assert {each["code"] for each in checked["problems"]} == {code}
            (found,) = features_of(client, ready(client, feature(geometry, name=name, **OWN)))
            assert {each["code"] for each in found["problems"]} == {code}
    assert client.get("/v1/projects").json["meta"]["total"] == 0


def test_what_leaves_is_taken_by_each(client: Client) -> None:
    """By the system, and by Whisp, whose schema asks for a Feature with an object of properties
    and a geometry with a list of coordinates."""
    browser = browser_of(client)
    make_project(client, name="Other")
    made = make_project(client, geometry=polygon(FIELD["coordinates"][0], HOLE), metadata=OWN)["id"]
    make_asset(client, made, type="plot", location=point(-2.5, 6.5), metadata=OWN | {AREA: 2})
    files = [client.get(f"/v1/exports/projects?format=eudr&points=true&ids={made}").data]
    for page in (
        browser.get(f"/projects/export?ids={made}&format=eudr"),
        browser.get("/projects/export?has_geometry=true&status=any&format=eudr"),
        browser.get(
            post(browser, "/projects/export", format="eudr", ids=[made]).response.location or ""
        ),
    ):
        assert "1 hole is left out, and splits its plot" in page.text  # before the download
        (link,) = [each for each in page.links if "download" in each]
        files.append(browser.get(link).response.data)
    assert len(set(files)) == 1
    assert faults_of(files[0], variant=1) == []
    document = json.loads(files[0])
    assert document["type"] == "FeatureCollection"
    assert len(document["features"]) == 3
    for each in document["features"]:
        assert each["type"] == "Feature"
        assert isinstance(each["properties"], dict)
        assert isinstance(each["geometry"]["coordinates"], list)
        assert isinstance(each["geometry"]["type"], str)
