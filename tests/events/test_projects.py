"""The events of projects (docs/policy.md, "Events")."""

from __future__ import annotations

from typing import Any

import pytest

from tests.make import Client, events, make_key, make_project, square

FIELDS = [
    *("id", "name", "slug", "external_id", "description", "area_hectares", "status"),
    *("metadata", "created_at", "updated_at"),
]


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client, name="Wald", description="old", geometry=square())


def _actor(client: Client) -> dict[str, str]:
    """The member who made the credential, as an event names them."""
    return events(client)[0]["data"]["created_by"]


def _last(client: Client) -> dict[str, Any]:
    return events(client)[-1]


def _shown(project: dict[str, Any]) -> dict[str, Any]:
    """A record without what is not the record's in an event."""
    return {name: project[name] for name in FIELDS}


def test_envelope(client: Client, project: dict[str, Any]) -> None:
    event = _last(client)
    account = client.get("/v1/account").json["data"]
    assert list(event) == ["id", "type", "created_at", "data", "account"]
    assert event["id"].startswith("evt_")
    assert event["account"] == {"id": account["id"], "name": account["name"]}
    assert event["created_at"] >= project["created_at"]


@pytest.mark.both
def test_created(client: Client, project: dict[str, Any]) -> None:
    event = _last(client)
    assert event["type"] == "project.created"
    assert list(event["data"]) == [*FIELDS, "created_by"]
    assert event["data"] == _shown(project) | {"created_by": _actor(client)}


def test_the_actor_is_the_member_who_made_the_key(client: Client) -> None:
    make_project(make_key(client))
    actor = _last(client)["data"]["created_by"]
    assert set(actor) == {"id", "email"}
    assert actor["id"] == client.owner_id
    assert actor["email"].endswith("@example.org")


def test_updated(client: Client, project: dict[str, Any]) -> None:
    for fields, changes in (
        ({"name": "Forst", "description": "old"}, {"name": {"from": "Wald", "to": "Forst"}}),
        ({"description": None}, {"description": {"from": "old", "to": None}}),
        ({"status": "draft"}, {"status": {"from": "active", "to": "draft"}}),
        (
            {"name": "Wald", "status": "archived"},
            {
                "name": {"from": "Forst", "to": "Wald"},
                "status": {"from": "draft", "to": "archived"},
            },
        ),
    ):
        changed = client.put(f"/v1/projects/{project['id']}", json=fields).json["data"]
        event = _last(client)
        assert event["type"] == "project.updated"
        assert list(event["data"]) == [*FIELDS, "changes", "updated_by"]
        expected = _shown(changed) | {"changes": changes, "updated_by": _actor(client)}
        assert event["data"] == expected


def test_updated_tells_of_a_boundary_only_that_it_changed(
    client: Client, project: dict[str, Any]
) -> None:
    body = {"geometry": square(size=0.2)}
    changed = client.put(f"/v1/projects/{project['id']}", json=body).json["data"]
    areas = {"from": project["area_hectares"], "to": changed["area_hectares"]}
    assert _last(client)["data"]["changes"] == {
        "geometry": {"changed": True},
        "area_hectares": areas,
    }


def test_archived_and_restored(client: Client, project: dict[str, Any]) -> None:
    for trigger in ("archive", "restore"):
        changed = client.post(f"/v1/projects/{project['id']}/{trigger}").json["data"]
        event = _last(client)
        assert event["type"] == f"project.{trigger}d"
        assert event["data"] == _shown(changed) | {f"{trigger}d_by": _actor(client)}


@pytest.mark.both
def test_deleted_tells_the_last_state(client: Client, project: dict[str, Any]) -> None:
    path = f"/v1/projects/{project['id']}"
    last = client.post(f"{path}/archive").json["data"]
    client.delete(path)
    event = _last(client)
    assert event["type"] == "project.deleted"
    assert event["data"] == _shown(last) | {"deleted_by": _actor(client)}
