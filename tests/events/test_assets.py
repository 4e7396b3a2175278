"""The events of assets (docs/policy.md, "Events")."""

from __future__ import annotations

from typing import Any

import pytest

from tests.make import Client, event_types, events, make_asset, make_project, point

FIELDS = [
    *("id", "project_id", "name", "external_id", "type", "location", "status", "metadata"),
    *("created_at", "updated_at"),
]


@pytest.fixture
def asset(client: Client) -> dict[str, Any]:
    project = make_project(client)
    return make_asset(
        client, project["id"], name="Tower", location=point(), metadata={"height": 40}
    )


def _path(asset: dict[str, Any]) -> str:
    return f"/v1/projects/{asset['project_id']}/assets/{asset['id']}"


def _actor(client: Client) -> dict[str, str]:
    return events(client)[0]["data"]["created_by"]


@pytest.mark.both
def test_created(client: Client, asset: dict[str, Any]) -> None:
    event = events(client)[-1]
    assert event["type"] == "asset.created"
    assert list(event["data"]) == [*FIELDS, "created_by"]
    assert event["data"] == asset | {"created_by": _actor(client)}


def test_updated(client: Client, asset: dict[str, Any]) -> None:
    for fields, changes in (
        ({"name": "Mast"}, {"name": {"from": "Tower", "to": "Mast"}}),
        ({"external_id": "M"}, {"external_id": {"from": None, "to": "M"}}),
        ({"type": "mast"}, {"type": {"from": "equipment", "to": "mast"}}),
        ({"location": point(11, 51)}, {"location": {"from": point(), "to": point(11, 51)}}),
        ({"location": None}, {"location": {"from": point(11, 51), "to": None}}),
        ({"metadata": {}}, {"metadata": {"from": {"height": 40}, "to": {}}}),
        ({"metadata": None}, {"metadata": {"from": {}, "to": None}}),
    ):
        changed = client.put(_path(asset), json=fields).json["data"]
        event = events(client)[-1]
        assert event["type"] == "asset.updated"
        assert list(event["data"]) == [*FIELDS, "changes", "updated_by"]
        assert event["data"] == changed | {"changes": changes, "updated_by": _actor(client)}
    client.put(_path(asset), json={"status": "active", "name": "Other"})
    assert "asset.status_changed" not in event_types(client)


def test_a_new_status_is_told_twice_in_order(client: Client, asset: dict[str, Any]) -> None:
    changed = client.put(_path(asset), json={"status": "retired", "name": "Mast"}).json["data"]
    updated, moved = events(client)[-2:]
    assert (updated["type"], moved["type"]) == ("asset.updated", "asset.status_changed")
    assert updated["id"] < moved["id"]
    assert updated["created_at"] <= moved["created_at"]
    assert set(updated["data"]["changes"]) == {"status", "name"}
    by = {"updated_by": _actor(client)}
    assert moved["data"] == changed | {"previous_status": "active"} | by


def test_nothing_changed_is_not_told(client: Client, asset: dict[str, Any]) -> None:
    for fields in [{}, {"name": "Tower"}, {"metadata": {"height": 40}}]:
        assert client.put(_path(asset), json=fields).json["data"] == asset
        assert event_types(client)[-1] == "asset.created"


@pytest.mark.both
def test_deleted_tells_the_last_state(client: Client, asset: dict[str, Any]) -> None:
    client.delete(_path(asset))
    event = events(client)[-1]
    assert event["type"] == "asset.deleted"
    assert event["data"] == asset | {"deleted_by": _actor(client)}
