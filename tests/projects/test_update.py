"""PUT /v1/projects/{project_id}: a merge (docs/api-conventions.md, "Bodies and envelopes")."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.values import clock
from tests.make import Client, event_types, make_project, square


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client, name="Wald", description="old", geometry=square())


@pytest.fixture
def _later(monkeypatch: pytest.MonkeyPatch, project: dict[str, Any]) -> None:
    """A minute after the project was made."""
    moment = clock.parse_time(project["created_at"]) + timedelta(minutes=1)
    monkeypatch.setattr(clock, "now", lambda: moment)


def _put(client: Client, project: dict[str, Any], **fields: Any) -> Any:
    response = client.put(f"/v1/projects/{project['id']}", json=fields)
    assert response.status_code == 200, response.json
    return response.json["data"]


@pytest.mark.both
@pytest.mark.usefixtures("_later")
def test_one_field_changes_and_the_others_stay(client: Client, project: dict[str, Any]) -> None:
    before = project
    for field, value in (
        ("name", "Forst"),
        ("description", "new"),
        ("description", ""),
        ("description", None),
        ("geometry", square(size=0.2)),
        ("geometry", None),
        ("status", "draft"),
    ):
        changed = _put(client, project, **{field: value})
        derived = {"geometry": {"area_hectares", "country"}}.get(field, set())
        assert changed[field] == value
        assert changed["updated_at"] > project["updated_at"]
        stays = set(project) - {field, "updated_at"} - derived
        assert {name: changed[name] for name in stays} == {name: before[name] for name in stays}
        if value == square(size=0.2):
            assert changed["area_hectares"] > 3 * project["area_hectares"]
        before = client.get(f"/v1/projects/{project['id']}").json["data"]
        assert before == changed
    assert before["area_hectares"] is None
    assert len(event_types(client)) == 8


@pytest.mark.usefixtures("_later")
def test_what_is_no_change_changes_nothing(client: Client, project: dict[str, Any]) -> None:
    """What cannot be written is not looked at, and spaces around a text do not count."""
    read_only = {"slug": "wald", "area_hectares": 0, "created_at": None, "updated_at": 1}
    for sent in ({}, project, {"id": project["id"]} | read_only, {"name": "  Wald "}):
        assert _put(client, project, **sent) == project
    assert event_types(client) == ["project.created"]


def test_a_name_may_be_given_twice(client: Client, project: dict[str, Any]) -> None:
    """The slug is unique, not the name: it stays as the first name made it."""
    other = make_project(client, name="Forst")
    assert _put(client, other, name="Wald")["slug"] == "forst"
