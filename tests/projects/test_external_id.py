"""A project's own id elsewhere, and metadata of its owner's (docs/api-conventions.md,
"Bodies and envelopes")."""

from __future__ import annotations

import pytest

from tests.make import Client, event_types, events, make_account, make_project


@pytest.mark.both
def test_both_come_back_as_they_were_sent(client: Client) -> None:
    metadata = {"forest": "Umpqua", "plots": [1, 2.50, None], "ä": {"deep": True}}
    made = make_project(client, external_id=" FS-1 ", metadata=metadata)
    assert (made["external_id"], made["metadata"]) == ("FS-1", metadata)
    path = f"/v1/projects/{made['id']}"
    assert client.get(path).json["data"] == made
    changed = client.put(path, json={"external_id": "FS-2", "metadata": {"a": 1}})
    assert changed.json["data"]["metadata"] == {"a": 1}
    event = events(client)[-1]
    assert event["data"]["external_id"] == "FS-2"
    assert event["data"]["changes"] == {
        "external_id": {"from": "FS-1", "to": "FS-2"},
        "metadata": {"from": metadata, "to": {"a": 1}},
    }
    cleared = client.put(path, json={"external_id": None, "metadata": None}).json["data"]
    assert (cleared["external_id"], cleared["metadata"]) == (None, None)


@pytest.mark.both
def test_two_projects_of_an_account_do_not_share_one(client: Client) -> None:
    first = make_project(client, name="A", external_id="FS-1")
    refused = client.post("/v1/projects", json={"name": "B", "external_id": "FS-1"})
    assert refused.status_code == 409
    assert refused.json["error"]["code"] == "CONFLICT"
    (detail,) = refused.json["error"]["details"]
    assert (detail["field"], detail["code"]) == ("external_id", "external_id_taken")
    assert (detail["id"], first["id"] in detail["message"]) == (first["id"], True)
    assert "'FS-1'" in detail["message"]
    second = make_project(client, name="B")
    path = f"/v1/projects/{second['id']}"
    refused = client.put(path, json={"external_id": "FS-1"})
    assert refused.status_code == 409
    assert refused.json["error"]["details"] == [detail]
    assert client.get(path).json["data"] == second
    assert event_types(client) == ["project.created", "project.created"]
    assert client.put(path, json={"external_id": "FS-1 "}).status_code == 409
    assert client.put(path, json={"external_id": "fs-1"}).status_code == 200
    make_project(make_account(client.app), external_id="FS-1")


def test_a_conflict_of_names_names_the_other_project(client: Client) -> None:
    first = make_project(client, name="Wald am See")
    refused = client.post("/v1/projects", json={"name": "wald  am SEE!"})
    assert refused.status_code == 409
    (detail,) = refused.json["error"]["details"]
    assert (detail["field"], detail["code"], detail["id"]) == ("slug", "slug_taken", first["id"])
    assert detail["message"] == (
        f"This name is taken by the project {first['id']} (Wald am See). "
        "Choose one that differs in letters or digits."
    )
    assert refused.json["error"]["message"] == detail["message"]
