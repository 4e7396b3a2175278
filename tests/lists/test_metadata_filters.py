"""``metadata.KEY=value``: lists, exports, maps and /ogc by the metadata of their records."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from app.policy.request_limits import METADATA_FILTERS
from tests.make import Client, make_asset, make_project, square

# The metadata of a project, and whether each of these filters finds it.
HIT, MISS = True, False
CASES: list[tuple[Any, str, str, bool]] = [
    ({"risk": "high"}, "risk", "high", HIT),
    ({"risk": "high"}, "risk", "High", MISS),
    ({"risk": "high"}, "risk", "hig", MISS),
    ({"risk": " high "}, "risk", " high ", HIT),
    ({"risk": ""}, "risk", "", HIT),
    ({"risk": None}, "risk", "null", MISS),
    ({"n": 5}, "n", "5", HIT),
    ({"n": "5"}, "n", "5", HIT),
    ({"n": 55}, "n", "5", MISS),
    ({"n": 5}, "n", "5.0", MISS),
    ({"n": 5.0}, "n", "5.0", HIT),
    ({"n": 5.0}, "n", "5", MISS),
    ({"n": 1 / 3}, "n", "0.3333333333333333", HIT),
    ({"n": 1 / 3}, "n", "0.333333333333333", MISS),
    ({"n": 1e22}, "n", "1e+22", HIT),
    ({"n": 9223372036854775807}, "n", "9223372036854775807", HIT),
    ({"ok": True}, "ok", "true", HIT),
    ({"ok": True}, "ok", "1", MISS),
    ({"ok": 1}, "ok", "true", MISS),
    ({"a": {"risk": "high"}, "risk": "low"}, "risk", "high", MISS),
    ({"a": {"b": 1}}, "a", '{"b":1}', MISS),
    ({"a": {"b": "x"}}, "a.b", "x", MISS),
    ({"a.b": "x"}, "a.b", "x", HIT),
    ({'say "yes"': 'back\\slash "q"\n'}, 'say "yes"', 'back\\slash "q"\n', HIT),
    ({"note": 'x","risk":"high'}, "risk", "high", MISS),
    ({"Höhe": "Łódź 森"}, "Höhe", "Łódź 森", HIT),
    ({"Höhe": "Łódź"}, "Höhe", "Lodz", MISS),
    ({"": "x"}, "", "x", HIT),
    ({"%": "a_b"}, "%", "a%b", MISS),
    ({"key": "x"}, "key", "' OR 1=1 --", MISS),
    (None, "risk", "high", MISS),
]


def query(**filters: str) -> str:
    return urlencode({f"metadata.{key}": value for key, value in filters.items()})


def total(client: Client, path: str) -> int:
    response = client.get(path)
    assert response.status_code == 200, response.json
    assert len(response.json["data"]) == response.json["meta"]["total"]
    return int(response.json["meta"]["total"])


@pytest.mark.both
def test_values_are_compared_by_their_text(client: Client, subtests: Any) -> None:
    other = make_project(client, metadata={"other": "x"})["id"]
    for metadata, key, value, is_found in CASES:
        with subtests.test(f"{metadata} {key}={value}"):
            project_id = make_project(client, metadata=metadata)["id"]
            asset = make_asset(client, other, metadata=metadata)["id"]
            narrowed = f"{query(**{key: value})}&ids="
            assert total(client, f"/v1/projects?{narrowed}{project_id},{other}") == is_found
            assert total(client, f"/v1/assets?{narrowed}{asset}") == is_found


@pytest.fixture
def risks(client: Client) -> list[str]:
    """The ids of four projects: two of high risk, one of them of oak and with a boundary."""
    made = [
        make_project(client, metadata={"risk": "high", "n": 1}),
        make_project(client, metadata={"risk": "high", "species": "oak"}, geometry=square()),
        make_project(client, metadata={"risk": "low", "species": "oak"}, geometry=square()),
        make_project(client),
    ]
    return [project["id"] for project in made]


@pytest.mark.both
def test_several_keys_narrow_and_other_filters_too(client: Client, risks: list[str]) -> None:
    assert total(client, f"/v1/projects?{query(risk='high')}") == 2
    assert total(client, f"/v1/projects?{query(risk='high', species='oak')}") == 1
    assert total(client, f"/v1/projects?{query(species='oak')}&search=wald") == 0
    assert total(client, f"/v1/projects?{query(species='oak')}&status=archived") == 0
    assert total(client, f"/v1/projects?{query(species='oak')}&bbox=-180,-90,180,90") == 2
    assert total(client, f"/v1/projects?{query(species='oak')}&bbox=170,80,171,81") == 0
    assert (
        total(client, f"/v1/projects?{query(risk='high')}&updated_since=2020-01-01T00:00:00Z") == 2
    )
    client.post(f"/v1/projects/{risks[0]}/archive")
    assert total(client, f"/v1/projects?{query(risk='high')}&status=archived&sort=name") == 1


@pytest.mark.both
def test_pages_follow_each_other(client: Client) -> None:
    """On the way through the list, from its end, and where few of many match."""
    wanted = [
        make_project(client, name=f"Plot {number}", metadata={"even": number % 2 == 0})["id"]
        for number in range(20)
    ][::2]
    for sort, order in (("name", "asc"), ("created_at", "desc"), ("area_hectares", "desc")):
        found = []
        for page in range(1, 5):
            path = f"/v1/projects?metadata.even=true&per_page=3&page={page}&sort={sort}"
            body = client.get(f"{path}&order={order}").json
            assert body["meta"]["total"] == 10
            found += [project["id"] for project in body["data"]]
        assert sorted(found) == sorted(wanted)


def test_exports_and_maps_and_features_are_filtered(client: Client, risks: list[str]) -> None:
    path = query(species="oak")
    file = client.get(f"/v1/exports/projects?{path}").get_json(force=True)
    assert [each["id"] for each in file["features"]] == risks[1:3]
    drawn = client.get(f"/v1/projects/map?zoom=3&{query(risk='high')}").get_json(force=True)
    assert [each["id"] for each in drawn["features"]] == risks[1:2]
    items = client.get(f"/ogc/collections/projects/items?{query(risk='high')}").get_json(force=True)
    assert [each["id"] for each in items["features"]] == risks[:2]
    assert items["numberMatched"] == 2
    both = f"{query(risk='high', species='oak')}&filter=name%20IS%20NOT%20NULL"
    items = client.get(f"/ogc/collections/projects/items?{both}").get_json(force=True)
    assert [each["id"] for each in items["features"]] == risks[1:2]
    asset = make_asset(client, risks[0], metadata={"n": 5})
    items = client.get("/ogc/collections/assets/items?metadata.n=5").get_json(force=True)
    assert [each["id"] for each in items["features"]] == [asset["id"]]


@pytest.mark.both
def test_the_assets_of_a_project_are_filtered(client: Client) -> None:
    project_id = make_project(client)["id"]
    make_asset(client, project_id, metadata={"serial": "WX-1"})
    make_asset(client, project_id, metadata={"serial": "WX-2"})
    path = f"/v1/projects/{project_id}/assets?metadata.serial=WX-2"
    assert total(client, path) == 1
    assert total(client, f"{path}&sort=updated_at") == 1


def test_every_writing_of_an_object_is_taken(client: Client, subtests: Any) -> None:
    """As programs write one into a query string: by styles of OpenAPI, or as JSON."""
    found = make_project(client, metadata={"risk": "high", "n": 5, "ok": True, "x]y": "[z"})["id"]
    make_project(client, metadata={"risk": "high", "n": 6, "ok": False})
    for sent in [
        {"metadata.risk": "high", "metadata.n": "5"},
        {"metadata[risk]": "high", "metadata[ok]": "true"},
        {"metadata": '{"risk": "high", "n": 5, "ok": true}'},
        {"metadata": '{"risk":"high"}', "metadata[n]": "5", "metadata.ok": "true"},
        {"metadata[x]y]": "[z"},
        {"metadata[metadata.n]": "5"},
        {"metadata": '{"metadata.n":5}'},
    ]:
        for path in ["/v1/projects", "/v1/exports/projects", "/ogc/collections/projects/items"]:
            with subtests.test(f"{path} {sent}"):
                answer = client.get(f"{path}?{urlencode(sent)}").get_json(force=True)
                records = answer.get("data") or answer["features"]
                assert [each["id"] for each in records] == [found]
    answer = client.get("/v1/projects?risk=high").json
    assert "as metadata.KEY=value" in answer["error"]["details"][0]["message"]


def test_what_is_wrong_is_named(client: Client) -> None:
    for path in ["/v1/projects", "/v1/assets", "/ogc/collections/projects/items"]:
        for sent, field in [
            ("metadata.risk=high&metadata.risk=low", "metadata.risk"),
            ("metadata.risk=%00", "metadata.risk"),
            ("metadata=high", "metadata"),
            ("metadata={", "metadata"),
            ("metadata=[5]", "metadata"),
            ('metadata={"risk":null}', "metadata"),
            ('metadata={"risk":"high","risk":"low"}', "metadata"),
            ("metadata.risk=high&metadata[risk]=low", "metadata[risk]"),
            ('metadata={"risk":"high","metadata.risk":"low"}', "metadata"),
            ("&".join(f"metadata.k{n}=1" for n in range(METADATA_FILTERS + 1)), "metadata.k10"),
        ]:
            response = client.get(f"{path}?{sent}")
            assert response.status_code == 400
            assert field in [detail["field"] for detail in response.json["error"]["details"]]
