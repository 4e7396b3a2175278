"""PATCH is the same operation as PUT (docs/api-conventions.md, "Bodies and envelopes")."""

from __future__ import annotations

from tests.api.operations import operations
from tests.make import Client, event_types, make_asset, make_project


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
