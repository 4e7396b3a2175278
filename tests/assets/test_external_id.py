"""An asset's own id elsewhere, unique within its project (docs/api-conventions.md, "Bodies and
envelopes")."""

from __future__ import annotations

from typing import Any

import pytest

from tests.make import (
    Client,
    audit_entries,
    event_types,
    events,
    make_account,
    make_asset,
    make_key,
    make_project,
)


@pytest.fixture
def project_id(client: Client) -> str:
    return make_project(client)["id"]


def _path(asset: dict[str, Any]) -> str:
    return f"/v1/projects/{asset['project_id']}/assets/{asset['id']}"


def _found(client: Client, path: str) -> list[str]:
    response = client.get(path)
    assert response.status_code == 200, response.json
    return [each["name"] for each in response.json["data"]]


def test_it_comes_back_as_it_was_sent(client: Client, project_id: str) -> None:
    made = make_asset(client, project_id, external_id=" WX-1 ")
    assert made["external_id"] == "WX-1"
    assert client.get(_path(made)).json["data"] == made
    assert events(client)[-1]["data"]["external_id"] == "WX-1"
    changed = client.put(_path(made), json={"external_id": "WX-2"}).json["data"]
    assert changed["external_id"] == "WX-2"
    event = events(client)[-1]
    changes = {"external_id": {"from": "WX-1", "to": "WX-2"}}
    assert (event["type"], event["data"]["changes"]) == ("asset.updated", changes)
    entry = audit_entries(client)[-1]
    assert (entry["action"], entry["changes"]) == ("asset.updated", changes)
    assert client.put(_path(made), json={"name": "Tower"}).json["data"]["external_id"] == "WX-2"
    cleared = client.put(_path(made), json={"external_id": None}).json["data"]
    assert cleared["external_id"] is None


@pytest.mark.both
def test_two_assets_of_a_project_do_not_share_one(client: Client, project_id: str) -> None:
    first = make_asset(client, project_id, name="A", external_id="WX-1")
    body = {"name": "B", "type": "equipment", "external_id": "WX-1"}
    refused = client.post(f"/v1/projects/{project_id}/assets", json=body)
    assert refused.status_code == 409
    message = f"The external id 'WX-1' is taken by the asset {first['id']} (A). Choose another one."
    detail = {
        "field": "external_id",
        "message": message,
        "code": "external_id_taken",
        "id": first["id"],
    }
    assert refused.json["error"]["details"] == [detail]
    second = make_asset(client, project_id, name="B")
    refused = client.put(_path(second), json={"external_id": "WX-1"})
    assert refused.status_code == 409
    assert refused.json["error"]["details"] == [detail]
    assert client.get(_path(second)).json["data"] == second
    assert event_types(client) == ["project.created", "asset.created", "asset.created"]
    assert client.put(_path(second), json={"external_id": "wx-1"}).status_code == 200
    assert client.put(_path(first), json={"external_id": "WX-1", "name": "C"}).status_code == 200


def test_projects_and_accounts_share_them(client: Client, project_id: str) -> None:
    make_project(client, external_id="WX-1")
    first = make_asset(client, project_id, name="Ours", external_id="WX-1")
    make_asset(client, make_project(client)["id"], external_id="WX-1")
    other = make_account(client.app)
    make_asset(other, make_project(other)["id"], name="Theirs", external_id="WX-1")
    assert _found(other, "/v1/assets?external_id=WX-1") == ["Theirs"]
    assert client.delete(_path(first)).status_code == 204
    make_asset(client, project_id, external_id="WX-1")


def test_a_credential_that_is_limited_to_the_project_may_change_it(
    client: Client, project_id: str
) -> None:
    """Unlike that of a project, it tells nothing of other projects."""
    key = make_key(client, permissions=["assets:write"], project_ids=[project_id])
    asset = make_asset(key, project_id, external_id="WX-1")
    assert key.put(_path(asset), json={"external_id": "WX-2"}).status_code == 200


@pytest.mark.both
def test_lists_are_filtered_by_it(client: Client, project_id: str) -> None:
    other_id = make_project(client)["id"]
    for name, own_id in (("A", "WX/1"), ("B", "WX/2"), ("C", None)):
        make_asset(client, project_id, name=name, external_id=own_id)
    make_asset(client, other_id, name="D", external_id="WX/1", status="retired")
    within = f"/v1/projects/{project_id}/assets"
    assert _found(client, f"{within}?external_id=WX/1") == ["A"]
    assert _found(client, f"{within}?external_id=WX") == []
    assert _found(client, "/v1/assets?external_id=WX/1") == ["D", "A"]
    assert _found(client, f"/v1/assets?external_id=WX/1&project_id={other_id}") == ["D"]
    assert _found(client, "/v1/assets?external_id=WX/1&status=active") == ["A"]
    assert _found(client, "/v1/assets?external_id=WX/1&search=d") == ["D"]
    export = client.get("/v1/exports/assets?format=geojson&external_id=WX/2").json
    assert [each["properties"]["name"] for each in export["features"]] == ["B"]


@pytest.mark.both
def test_a_search_finds_it(client: Client, project_id: str) -> None:
    asset = make_asset(client, project_id, name="Tower", external_id="Ährenfeld-77")
    within = f"/v1/projects/{project_id}/assets"
    for path in (within, "/v1/assets"):
        assert _found(client, f"{path}?search=ahrenfeld") == ["Tower"]
        assert _found(client, f"{path}?search=77") == ["Tower"]
        assert _found(client, f"{path}?search=tower%C3%A4hren") == []  # not across the two
    client.put(_path(asset), json={"external_id": "B-5"})
    assert _found(client, f"{within}?search=ahrenfeld") == []
    assert _found(client, f"{within}?search=b-5") == ["Tower"]
    client.put(_path(asset), json={"external_id": None})
    assert _found(client, f"{within}?search=b-5") == []
