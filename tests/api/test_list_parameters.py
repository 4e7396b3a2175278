"""What the lists of projects and assets can be asked for (docs/api-conventions.md, "Lists")."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from app.projects import listing
from tests.make import Client, make_account, make_asset, make_project, square


@pytest.fixture
def projects(client: Client) -> list[dict[str, Any]]:
    return [
        make_project(client, name=f"Wood {number}", external_id=f"FS/{number}", geometry=square())
        for number in range(4)
    ]


def _found(client: Client, path: str) -> list[Any]:
    response = client.get(path)
    assert response.status_code == 200, response.json
    body = response.json
    assert body["meta"]["total"] >= len(body["data"])
    return [record.get("name") for record in body["data"]]


@pytest.mark.usefixtures("projects")
def test_only_some_fields(client: Client) -> None:
    first = client.get("/v1/projects?fields=status,name&sort=name&per_page=1").json["data"][0]
    assert list(first) == ["id", "name", "status"]
    whole = client.get("/v1/projects?fields=geometry&sort=name&per_page=1").json["data"][0]
    assert list(whole) == ["id", "geometry"]
    assert whole["geometry"]["type"] == "Polygon"
    assert list(client.get("/v1/projects?fields=id").json["data"][0]) == ["id"]


@pytest.mark.both
def test_external_id_and_slug_and_ids(client: Client, projects: list[dict[str, Any]]) -> None:
    make_project(make_account(client.app), name="Wood 1", external_id="FS/1")
    assert _found(client, f"/v1/projects?external_id={quote('FS/1')}") == ["Wood 1"]
    assert _found(client, "/v1/projects?external_id=FS") == []
    assert _found(client, "/v1/projects?slug=wood-2") == ["Wood 2"]
    assert _found(client, "/v1/projects?slug=wood-2&status=draft") == []
    ids = [project["id"] for project in projects]
    assert _found(client, f"/v1/projects?ids={ids[3]},{ids[0]}&sort=name") == ["Wood 0", "Wood 3"]
    assert _found(client, f"/v1/projects?ids={ids[0]},proj_x,x&search=WOOD") == ["Wood 0"]
    assert _found(client, f"/v1/projects?ids={ids[0]}&search=nothing") == []
    paged = client.get(f"/v1/projects?ids={','.join(ids)}&sort=name&per_page=3&page=2").json
    assert [record["name"] for record in paged["data"]] == ["Wood 3"]
    assert paged["meta"]["total"] == 4


def test_a_project_id_that_is_none_is_an_error(client: Client) -> None:
    message = 'Must be the id of a project, which begins with "proj_".'
    for project_id in ("", "x", "proj_x", "proj_\U0010fffd", f"asset_{'0' * 26}"):
        for more in ("", "&search=wood"):
            response = client.get(f"/v1/assets?project_id={quote(project_id)}{more}")
            assert response.status_code == 400
            (detail,) = response.json["error"]["details"]
            assert (detail["field"], detail["message"]) == ("project_id", message)


def test_others_ids_find_nothing(client: Client, projects: list[dict[str, Any]]) -> None:
    other = make_account(client.app)
    assert _found(other, f"/v1/projects?ids={projects[0]['id']}") == []
    assert _found(other, "/v1/projects?external_id=FS/1") == []


@pytest.mark.both
def test_changed_since(client: Client, projects: list[dict[str, Any]]) -> None:
    middle = projects[2]["updated_at"]
    path = f"/v1/projects?updated_since={middle}&sort=updated_at"
    assert set(_found(client, path)) >= {"Wood 2", "Wood 3"}
    changed = client.put(f"/v1/projects/{projects[0]['id']}", json={"description": "New"})
    latest = changed.json["data"]["updated_at"]
    assert _found(client, f"/v1/projects?updated_since={latest}") == ["Wood 0"]
    assert _found(client, "/v1/projects?sort=updated_at")[-1] == "Wood 0"
    assert _found(client, "/v1/projects?sort=updated_at&order=desc&per_page=1") == ["Wood 0"]
    assert _found(client, f"/v1/projects?updated_since={latest}&status=archived") == []
    assert _found(client, f"/v1/projects?updated_since={latest}&search=wood") == ["Wood 0"]
    assert _found(client, "/v1/projects?updated_since=2999-01-01T00:00:00Z") == []


@pytest.mark.both
@pytest.mark.usefixtures("projects")
def test_a_page_has_a_bound(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    size = client.get("/v1/account/usage").json["data"]["stored_bytes"]["current"] // 4
    monkeypatch.setattr(listing, "EXPENSIVE_PAGE_BYTES", size)
    monkeypatch.setattr(listing, "LIST_BYTES", 2 * size)
    for query in ("", "&search=wood", "&sort=name&fields=geometry"):
        refused = client.get(f"/v1/projects?per_page=3{query}")
        assert refused.status_code == 400, query
        (detail,) = refused.json["error"]["details"]
        assert detail["field"] == "per_page"
        assert "fields" in detail["message"]
        assert client.get(f"/v1/projects?per_page=2&page=2{query}").status_code == 200
    assert len(client.get("/v1/projects?fields=name").json["data"]) == 4


@pytest.fixture
def assets(client: Client, projects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        make_asset(
            client,
            projects[number % 2]["id"],
            name=f"Mast {number}",
            type=("equipment", "tower")[number // 2],
            location={"type": "Point", "coordinates": [10 + number, 50]},
        )
        for number in range(4)
    ]


@pytest.mark.both
def test_the_assets_of_all_projects(
    client: Client, projects: list[dict[str, Any]], assets: list[dict[str, Any]]
) -> None:
    other = make_account(client.app)
    make_asset(other, make_project(other)["id"], name="Mast 9")
    newest_first = [f"Mast {number}" for number in (3, 2, 1, 0)]
    assert _found(client, "/v1/assets") == newest_first
    assert _found(client, "/v1/assets?order=asc&per_page=2&page=2") == ["Mast 2", "Mast 3"]
    one = projects[1]["id"]
    assert _found(client, f"/v1/assets?project_id={one}") == ["Mast 3", "Mast 1"]
    assert _found(client, f"/v1/assets?project_id=proj_{'0' * 26}") == []
    assert _found(client, "/v1/assets?type=tower") == ["Mast 3", "Mast 2"]
    assert _found(client, "/v1/assets?type=tower&sort=updated_at") == ["Mast 2", "Mast 3"]
    assert _found(client, "/v1/assets?search=mast%201") == ["Mast 1"]
    assert _found(client, "/v1/assets?search=m") == newest_first
    assert _found(client, "/v1/assets?bbox=10.5,49,12.5,51") == ["Mast 2", "Mast 1"]
    assert _found(client, f"/v1/assets?bbox=10.5,49,12.5,51&project_id={one}") == ["Mast 1"]
    ids = f"{assets[0]['id']},{assets[2]['id']}"
    assert _found(client, f"/v1/assets?ids={ids}") == ["Mast 2", "Mast 0"]
    record = client.get("/v1/assets?fields=project_id,location&per_page=1").json["data"][0]
    assert list(record) == ["id", "project_id", "location"]
    path = f"/v1/projects/{projects[0]['id']}/assets"
    assert _found(client, f"{path}?sort=updated_at&fields=name") == ["Mast 0", "Mast 2"]
    changed = client.put(f"{path}/{assets[0]['id']}", json={"metadata": {"a": 1}}).json["data"]
    since = f"updated_since={changed['updated_at']}"
    assert _found(client, f"/v1/assets?{since}&sort=updated_at") == ["Mast 0"]
    assert _found(client, f"{path}?{since}") == ["Mast 0"]


REFUSED = [
    ("limit=5", "limit", "The parameters are: bbox, "),
    ("fields=name,colour", "fields", "'colour' is unknown. The fields are: id, name, slug"),
    ("fields=", "fields", "separated by commas"),
    ("fields=name,,slug", "fields", "separated by commas"),
    ("ids=" + ",".join("a" * 101), "ids", "at most 100 ids"),
    ("ids=", "ids", "separated by commas"),
    ("ids=a%00b", "ids", "NUL"),
    ("updated_since=2026-01-02", "updated_since", "RFC 3339"),
    ("updated_since=2026-01-02T03:04:05", "updated_since", "with a zone"),
    ("updated_since=2026-01-02T03:04:05+02:00", "updated_since", "write + as %2B"),
    ("sort=slug", "sort", "Must be one of: name, created_at, updated_at, area_hectares."),
    ("per_page=101", "per_page", "Must be from 1 to 100."),
    ("page=x", "page", "Must be an integer."),
    ("ids=a&ids=b", "ids", "once"),
]


def test_what_cannot_be_asked_for_is_said(client: Client, subtests: pytest.Subtests) -> None:
    for query, field, message in REFUSED:
        with subtests.test(query):
            refused = client.get(f"/v1/projects?{query}")
            assert refused.status_code == 400
            (detail,) = refused.json["error"]["details"]
            assert detail["field"] == field
            assert message in detail["message"]
    for query in ("x=1", "=1", "x"):
        refused = client.get(f"/v1/account?{query}")
        assert refused.status_code == 400
        (detail,) = refused.json["error"]["details"]
        assert detail["message"] == "This operation takes no query parameters."
