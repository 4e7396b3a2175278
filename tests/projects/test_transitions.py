"""The states of a project: what archives, restores and deletes it, and what stands against it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from app.policy.request_limits import PROJECT_STATUSES
from tests.make import Client, event_types, make_asset, make_project, square

# From each state: what is asked, the answer, the state after it, the event.
TRANSITIONS = [
    ("active", "archive", 200, "archived", "project.archived"),
    ("draft", "archive", 200, "archived", "project.archived"),
    ("archived", "archive", 409, "archived", None),
    ("active", "restore", 409, "active", None),
    ("draft", "restore", 409, "draft", None),
    ("archived", "restore", 200, "active", "project.restored"),
    ("active", "delete", 409, "active", None),
    ("draft", "delete", 409, "draft", None),
    ("archived", "delete", 204, None, "project.deleted"),
]


def _in_state(client: Client, status: str) -> dict[str, Any]:
    project = make_project(client, geometry=square())
    if status != "active":
        response = client.put(f"/v1/projects/{project['id']}", json={"status": status})
        project = response.json["data"]
    return project


@pytest.mark.both
def test_transitions(client: Client, subtests: pytest.Subtests) -> None:
    for before, trigger, status, after, event in TRANSITIONS:
        with subtests.test(f"{trigger} {before}"):
            project = _in_state(client, before)
            known = event_types(client)
            path = f"/v1/projects/{project['id']}"
            is_deletion = trigger == "delete"
            response = client.delete(path) if is_deletion else client.post(f"{path}/{trigger}")
            assert response.status_code == status
            read = client.get(path)
            if status == 409:
                assert response.json["error"]["code"] == "CONFLICT"
            elif is_deletion:
                assert (response.get_data(), read.status_code) == (b"", 404)
                assert "Content-Type" not in response.headers
                assert client.delete(path).status_code == 404
            else:
                assert response.json["data"] == read.json["data"]
                assert response.json["data"]["geometry"] == project["geometry"]
            if after is not None:
                assert read.json["data"]["status"] == after
            assert event_types(client) == known + ([event] if event else [])


def test_put_sets_any_status(client: Client) -> None:
    for before, after in product(PROJECT_STATUSES, repeat=2):
        project = _in_state(client, before)
        known = event_types(client)
        response = client.put(f"/v1/projects/{project['id']}", json={"status": after})
        assert response.status_code == 200
        assert response.json["data"]["status"] == after
        assert event_types(client) == known + (["project.updated"] if before != after else [])


def test_a_draft_that_was_archived_is_restored_as_active(client: Client) -> None:
    project = _in_state(client, "draft")
    client.post(f"/v1/projects/{project['id']}/archive")
    restored = client.post(f"/v1/projects/{project['id']}/restore")
    assert restored.json["data"]["status"] == "active"


@pytest.mark.both
def test_assets_go_with_their_project_and_one_event_tells_it(client: Client) -> None:
    project = make_project(client)
    assets = [make_asset(client, project["id"]) for _ in range(3)]
    path = f"/v1/projects/{project['id']}"
    client.post(f"{path}/archive")
    known = event_types(client)
    assert client.delete(path).status_code == 204
    assert event_types(client) == [*known, "project.deleted"]
    for asset in assets:
        assert client.get(f"{path}/assets/{asset['id']}").status_code == 404
    assert client.get(f"{path}/assets").status_code == 404


def test_an_action_takes_no_body(client: Client) -> None:
    path = f"/v1/projects/{make_project(client)['id']}"
    headers = {"Content-Type": "application/json"}
    for body, status in (('{"anything": 1}', 422), ("null", 422), ("{bad", 400)):
        response = client.post(f"{path}/archive", data=body.encode(), headers=headers)
        assert response.status_code == status
        assert [item["field"] for item in response.json["error"]["details"]] == ["body"]
    for action, body in (("archive", ""), ("restore", "{}")):
        response = client.post(f"{path}/{action}", data=body.encode(), headers=headers)
        assert response.status_code == 200
