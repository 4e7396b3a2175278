"""PATCH is the same operation as PUT (docs/api-conventions.md, "Bodies and envelopes")."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from tests.api.operations import operations
from tests.make import Client, event_types, make_asset, make_project

MERGE = "application/merge-patch+json"


def test_every_put_can_be_sent_as_patch() -> None:
    names = {operation.name for operation in operations()}
    puts = {name for name in names if name.startswith("PUT ")}
    assert len(puts) >= 5
    assert {name.replace("PUT", "PATCH", 1) for name in puts} <= names


def test_a_patch_changes_the_fields_that_are_sent(client: Client) -> None:
    project = make_project(client, name="Wald", description="Old")
    headers = {"If-Match": client.get(f"/v1/projects/{project['id']}").headers["ETag"]}
    path, body = f"/v1/projects/{project['id']}", {"description": "New"}
    first = client.send("PATCH", path, json=body, headers=headers | {"Idempotency-Key": "a"})
    assert first.json["data"]["description"] == "New"
    assert first.json["data"]["name"] == "Wald"
    again = client.send("PATCH", path, json=body, headers=headers | {"Idempotency-Key": "a"})
    assert again.headers["Idempotency-Replayed"] == "true"
    assert client.send("PATCH", path, json=body, headers=headers).status_code == 412
    assert event_types(client) == ["project.created", "project.updated"]


def test_a_key_of_a_merge_patch_is_not_that_of_the_same_body_as_json(client: Client) -> None:
    path = f"/v1/projects/{make_project(client, name='Wald', metadata={'a': 1})['id']}"

    def patch(content_type: str) -> Any:
        headers = {"Idempotency-Key": "a", "Content-Type": content_type}
        return client.send("PATCH", path, data='{"metadata": {"b": 2}}', headers=headers)

    assert patch(MERGE).json["data"]["metadata"] == {"a": 1, "b": 2}
    assert patch("application/json").status_code == 422
    assert patch(MERGE).headers["Idempotency-Replayed"] == "true"


def test_a_merge_patch_merges_metadata(client: Client, subtests: pytest.Subtests) -> None:
    metadata = {"a": 1, "b": {"c": 1, "d": 2}, "e": [1]}
    project = make_project(client, name="Wald", metadata=metadata)
    asset = make_asset(client, project["id"], metadata=metadata)
    path = f"/v1/projects/{project['id']}"
    for path_of_one in (path, f"{path}/assets/{asset['id']}"):

        def patch(body: Any, content_type: str = MERGE, path: str = path_of_one) -> Any:
            data = json.dumps(body)
            return client.send("PATCH", path, data=data, content_type=content_type)

        with subtests.test(path_of_one):
            merged = patch({"name": "Forst", "metadata": {"a": None, "b": {"c": 3}, "f": "x"}})
            assert merged.json["data"]["name"] == "Forst"
            assert merged.json["data"]["metadata"] == {"b": {"c": 3, "d": 2}, "e": [1], "f": "x"}
            unchanged = patch({"description" if path == path_of_one else "status": "new"})
            assert unchanged.json["data"]["metadata"] == merged.json["data"]["metadata"]
            (detail,) = patch({"metadata": {"g": "x" * 16_360}}).json["error"]["details"]
            assert (detail["field"], detail["code"]) == ("metadata", "too_large")
            replaced = patch({"metadata": {"a": None}}, "application/json")
            assert replaced.json["data"]["metadata"] == {"a": None}
            assert patch({"metadata": {"a": None}}).json["data"]["metadata"] == {}
            assert patch({"metadata": None}).json["data"]["metadata"] is None
            assert patch({"metadata": {"b": 1}}).json["data"]["metadata"] == {"b": 1}
    refused = client.put(path, data=b"{}", content_type=MERGE)
    assert refused.status_code == 415


def test_a_body_without_a_type_is_json_from_who_has_a_credential_in_a_header(
    client: Client, subtests: pytest.Subtests
) -> None:
    """Not from a browser, which another site's page could make send it."""
    feature = {"type": "Feature", "geometry": None, "properties": {"name": "A"}}
    basic = {"Authorization": f"Basic {b64encode(f'any:{client.token}'.encode()).decode()}"}
    bearer = {"Authorization": f"Bearer {client.token}"}
    items = "/ogc/collections/projects/items"
    for number, (path, body, headers, status) in enumerate(
        (
            ("/v1/projects", {"name": "B"}, bearer, 201),
            (items, feature, bearer, 201),
            (items, feature, basic, 201),
            (items, feature, {"X-Api-Key": client.token}, 201),
            (items, feature, basic | {"Origin": "https://example.org"}, 415),
            (items, feature, {"Cookie": "canopy_session=x"}, 415),
            (f"{items}?key={client.token}", feature, {}, 415),
            ("/v1/projects", {"name": "C"}, {}, 415),
            ("/v1/projects", {"name": "C"}, bearer | {"Content-Type": "text/plain"}, 415),
            ("/api/chat", {"message": "Hi"}, bearer, 415),
        )
    ):
        with subtests.test(f"{path} {headers}"):
            body = body | {"properties": {"name": f"A {number}"}} if path == items else body
            sent = client.app.test_client().post(path, data=json.dumps(body), headers=headers)
            assert sent.status_code == status, sent.get_data(as_text=True)


def test_what_does_not_change(client: Client) -> None:
    project = make_project(client, name="Wald")
    asset = make_asset(client, project["id"])
    owner = client.get("/v1/account/members").json["data"][0]
    for path, record, names in (
        (f"/v1/projects/{project['id']}", project, ("id", "slug")),
        (f"/v1/projects/{project['id']}/assets/{asset['id']}", asset, ("id", "project_id")),
        ("/v1/account", client.get("/v1/account").json["data"], ("id", "slug")),
        (f"/v1/account/members/{owner['id']}", owner, ("id", "name")),
    ):
        assert client.put(path, json=record).status_code == 200, path
        for name in names:
            for value in ("other", None):
                refused = client.put(path, json={name: value})
                assert refused.status_code == 422, (path, name, value)
                (detail,) = refused.json["error"]["details"]
                assert detail["field"] == name
                elsewhere = name in ("project_id", "name")
                wanted = "Cannot be changed here" if elsewhere else "never changes"
                assert wanted in detail["message"]
                assert record[name] in detail["message"]
    assert event_types(client) == ["project.created", "asset.created"]
