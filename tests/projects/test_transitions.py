"""The states of a project: what archives, restores and deletes it, and what stands against it."""

from __future__ import annotations

from typing import Any

import pytest

from app.policy.bounds import PROJECT_STATUSES
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
@pytest.mark.parametrize(("before", "trigger", "answer", "after", "event"), TRANSITIONS)
def test_transition(
    client: Client, before: str, trigger: str, answer: int, after: str | None, event: str | None
) -> None:
    project = _in_state(client, before)
    known = event_types(client)
    path = f"/v1/projects/{project['id']}"
    response = client.delete(path) if trigger == "delete" else client.post(f"{path}/{trigger}")
    assert response.status_code == answer
    if answer == 409:
        assert response.json["error"]["code"] == "CONFLICT"
    if after is None:
        assert client.get(path).status_code == 404
    else:
        assert client.get(path).json["data"]["status"] == after
    assert event_types(client) == known + ([event] if event else [])


@pytest.mark.both
@pytest.mark.parametrize("before", PROJECT_STATUSES)
@pytest.mark.parametrize("after", PROJECT_STATUSES)
def test_put_sets_any_status(client: Client, before: str, after: str) -> None:
    project = _in_state(client, before)
    known = event_types(client)
    response = client.put(f"/v1/projects/{project['id']}", json={"status": after})
    assert response.status_code == 200
    assert response.json["data"]["status"] == after
    assert event_types(client) == known + (["project.updated"] if before != after else [])


@pytest.mark.both
@pytest.mark.parametrize("trigger", ["archive", "restore"])
def test_archive_and_restore_answer_with_the_project(client: Client, trigger: str) -> None:
    project = _in_state(client, "active" if trigger == "archive" else "archived")
    answer = client.post(f"/v1/projects/{project['id']}/{trigger}").json["data"]
    assert answer == client.get(f"/v1/projects/{project['id']}").json["data"]
    assert answer["updated_at"] >= project["updated_at"]
    assert answer["geometry"] == project["geometry"]


@pytest.mark.both
def test_a_draft_that_was_archived_is_restored_as_active(client: Client) -> None:
    project = _in_state(client, "draft")
    client.post(f"/v1/projects/{project['id']}/archive")
    restored = client.post(f"/v1/projects/{project['id']}/restore")
    assert restored.json["data"]["status"] == "active"


@pytest.mark.both
def test_delete_answers_204_without_a_body_and_then_404(client: Client) -> None:
    project = _in_state(client, "archived")
    path = f"/v1/projects/{project['id']}"
    response = client.delete(path)
    assert (response.status_code, response.get_data()) == (204, b"")
    assert "Content-Type" not in response.headers
    assert client.delete(path).status_code == 404
    assert client.get("/v1/projects").json["meta"]["total"] == 0


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


@pytest.mark.parametrize(
    ("body", "status"),
    [("", 200), ("{}", 200), ('{"anything": 1}', 422), ("[]", 422), ("null", 422), ("{bad", 400)],
)
def test_an_action_takes_no_body(client: Client, body: str, status: int) -> None:
    path = f"/v1/projects/{make_project(client)['id']}"
    json = {"Content-Type": "application/json"}
    response = client.post(f"{path}/archive", data=body.encode(), headers=json)
    assert response.status_code == status
    if status != 200:
        assert [item["field"] for item in response.json["error"]["details"]] == ["body"]
    archived = client.get(path).json["data"]["status"] == "archived"
    assert archived == (status == 200)


@pytest.mark.both
def test_the_refusal_to_delete_says_what_to_do(client: Client) -> None:
    project = make_project(client)
    message = client.delete(f"/v1/projects/{project['id']}").json["error"]["message"]
    assert "active" in message
    assert "Archive it first" in message
