"""/v1/projects/{project_id}/assets: making, reading, changing and deleting assets."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from app.policy.request_limits import METADATA_LEVELS
from app.values import clock
from tests.make import Client, event_types, make_asset, make_project, point

FIELDS = [
    *("id", "project_id", "name", "external_id", "type", "location", "status", "metadata"),
    *("created_at", "updated_at"),
]


@pytest.fixture
def project_id(client: Client) -> str:
    return make_project(client)["id"]


@pytest.fixture
def asset(client: Client, project_id: str) -> dict[str, Any]:
    return make_asset(client, project_id, name="Tower", location=point(), metadata={"height": 40})


def _path(asset: dict[str, Any]) -> str:
    return f"/v1/projects/{asset['project_id']}/assets/{asset['id']}"


def _put(client: Client, asset: dict[str, Any], **fields: Any) -> dict[str, Any]:
    response = client.put(_path(asset), json=fields)
    assert response.status_code == 200, response.json
    return response.json["data"]


@pytest.mark.both
def test_create_answers_201_with_the_address(client: Client, project_id: str) -> None:
    body = {"name": "Tower", "type": "equipment"}
    response = client.post(f"/v1/projects/{project_id}/assets", json=body)
    assert response.status_code == 201
    location = response.headers["Location"]
    assert location == f"http://localhost{_path(response.json['data'])}"
    assert client.get(location).json["data"] == response.json["data"]


def test_a_name_and_a_type_are_enough(client: Client, project_id: str) -> None:
    asset = make_asset(client, project_id, name=" Tower ", type="equipment")
    assert list(asset) == FIELDS
    assert re.fullmatch(r"asset_[0-9a-hjkmnp-tv-z]{26}", asset["id"])
    assert asset["project_id"] == project_id
    assert (asset["name"], asset["type"], asset["status"]) == ("Tower", "equipment", "active")
    assert asset["location"] is None
    assert asset["metadata"] is None
    assert asset["created_at"] == asset["updated_at"]


@pytest.mark.both
def test_location_comes_back_as_it_was_sent(client: Client, project_id: str) -> None:
    for coordinates in [[0, 0], [180, 90], [-180, -90], [8.123456789012345, 48.1], [8, 48, 1200.5]]:
        location = {"type": "Point", "coordinates": coordinates}
        assert make_asset(client, project_id, location=location)["location"] == location


def test_a_location_of_a_list_of_positions_is_told_what_it_must_be(
    client: Client, project_id: str
) -> None:
    """As some programs write the points of plots."""
    body = {
        "name": "Tower",
        "type": "post",
        "location": {"type": "Point", "coordinates": [[8, 48]]},
    }
    response = client.post(f"/v1/projects/{project_id}/assets", json=body)
    assert response.status_code == 422
    (detail,) = response.json["error"]["details"]
    assert detail["field"] == "location.coordinates"
    assert "must be one position [longitude, latitude]" in detail["message"]


@pytest.mark.both
def test_metadata_comes_back_as_it_was_sent(client: Client, project_id: str) -> None:
    for metadata in [
        {},
        {"serial": "A-1", "height": 40.5, "works": True, "owner": None},
        {"nested": {"list": [1, [2, {"x": "ü🌲"}]]}},
        {f"key {n}": n for n in range(50)},
        {"big": 2**63 - 1, "small": -(2**63), "float": 1e-300},
        {"": "", "a.b": 1, "$where": 2},
        {"x": "y" * (16 * 1024 - len('{"x":""}'))},
    ]:
        asset = make_asset(client, project_id, metadata=metadata)
        assert asset["metadata"] == metadata
        assert client.get(_path(asset)).json["data"] == asset


def test_metadata_may_have_many_levels(client: Client, project_id: str) -> None:
    metadata: dict[str, Any] = {}
    for _ in range(METADATA_LEVELS - 1):
        metadata = {"a": metadata}
    assert make_asset(client, project_id, metadata=metadata)["metadata"] == metadata


def test_read_only_fields_are_ignored(client: Client, project_id: str) -> None:
    other = make_project(client)["id"]
    sent = {"id": "x", "project_id": other, "created_at": 1, "updated_at": None}
    asset = make_asset(client, project_id, **sent)
    assert asset["project_id"] == project_id
    assert asset["id"] != "x"


@pytest.mark.both
def test_one_field_changes_and_the_others_stay(
    client: Client, asset: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    later = clock.now() + timedelta(minutes=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    for field, value in (
        ("name", "Mast"),
        ("type", "mast"),
        ("status", "retired"),
        ("location", point(11, 51)),
        ("location", None),
        ("metadata", {"colour": "red"}),
        ("metadata", {}),
        ("metadata", None),
    ):
        changed = _put(client, asset, **{field: value})
        assert changed == asset | {field: value, "updated_at": clock.format_time(later)}
        asset = client.get(_path(asset)).json["data"]
        assert asset == changed


def test_nothing_changes_nothing(
    client: Client, asset: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    known, later = event_types(client), clock.now() + timedelta(minutes=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    for fields in ({}, asset):
        assert _put(client, asset, **fields) == asset
    assert event_types(client) == known


def test_a_project_cannot_be_changed(client: Client, asset: dict[str, Any]) -> None:
    other = make_project(client)["id"]
    response = client.put(_path(asset), json={"project_id": other})
    assert response.status_code == 422
    (detail,) = response.json["error"]["details"]
    assert detail["field"] == "project_id"
    assert "create it in the other project and delete this one" in detail["message"]
    assert client.get(f"/v1/projects/{other}/assets/{asset['id']}").status_code == 404


@pytest.mark.both
def test_delete_answers_204_without_a_body_and_then_404(
    client: Client, asset: dict[str, Any]
) -> None:
    response = client.delete(_path(asset))
    assert (response.status_code, response.get_data()) == (204, b"")
    assert client.delete(_path(asset)).status_code == 404
    assert client.get(_path(asset)).status_code == 404


def test_an_asset_of_an_archived_project_can_be_read_and_changed(
    client: Client, asset: dict[str, Any]
) -> None:
    client.post(f"/v1/projects/{asset['project_id']}/archive")
    assert client.get(_path(asset)).json["data"] == asset
    assert _put(client, asset, status="inactive")["status"] == "inactive"
    assert make_asset(client, asset["project_id"])["status"] == "active"
    assert client.delete(_path(asset)).status_code == 204


@pytest.mark.both
def test_an_asset_is_found_in_its_own_project_only(client: Client, asset: dict[str, Any]) -> None:
    for method in ["GET", "PUT", "DELETE"]:
        other = make_project(client)["id"]
        body = {} if method == "PUT" else None
        path = f"/v1/projects/{other}/assets/{asset['id']}"
        assert client.send(method, path, json=body).status_code == 404


def test_a_change_of_an_asset_leaves_its_project_alone(
    client: Client, asset: dict[str, Any]
) -> None:
    path = f"/v1/projects/{asset['project_id']}"
    before = client.get(path).headers["ETag"]
    _put(client, asset, name="Mast")
    assert client.get(path).headers["ETag"] == before
