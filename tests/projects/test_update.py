"""PUT /v1/projects/{project_id}: a merge (docs/api-conventions.md, "Bodies and envelopes")."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.values import clock
from tests.make import Client, event_types, make_project, square

pytestmark = pytest.mark.both


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


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Forst"),
        ("description", "new"),
        ("description", ""),
        ("description", None),
        ("geometry", square(20, 40)),
        ("status", "draft"),
        ("status", "archived"),
    ],
)
@pytest.mark.usefixtures("_later")
def test_one_field_changes_and_the_others_stay(
    client: Client, project: dict[str, Any], field: str, value: Any
) -> None:
    changed = _put(client, project, **{field: value})
    derived = {"geometry": {"area_hectares", "country"}}.get(field, set())
    assert changed[field] == value
    assert changed["updated_at"] > project["updated_at"]
    stays = set(project) - {field, "updated_at"} - derived
    assert {name: changed[name] for name in stays} == {name: project[name] for name in stays}
    assert client.get(f"/v1/projects/{project['id']}").json["data"] == changed


def test_a_new_geometry_has_a_new_area(client: Client, project: dict[str, Any]) -> None:
    changed = _put(client, project, geometry=square(size=0.2))
    assert changed["area_hectares"] > 3 * project["area_hectares"]


def test_null_clears_geometry_and_area(client: Client, project: dict[str, Any]) -> None:
    changed = _put(client, project, geometry=None)
    assert changed["geometry"] is None
    assert changed["area_hectares"] is None


@pytest.mark.usefixtures("_later")
def test_nothing_changes_nothing(client: Client, project: dict[str, Any]) -> None:
    assert _put(client, project) == project
    assert event_types(client) == ["project.created"]


@pytest.mark.usefixtures("_later")
def test_what_was_read_changes_nothing_when_sent_back(
    client: Client, project: dict[str, Any]
) -> None:
    assert _put(client, project, **project) == project
    assert event_types(client) == ["project.created"]


@pytest.mark.usefixtures("_later")
def test_read_only_fields_are_ignored(client: Client, project: dict[str, Any]) -> None:
    sent = {
        "id": project["id"],
        "slug": "wald",
        "area_hectares": 0,
        "created_at": None,
        "updated_at": 1,
    }
    assert _put(client, project, **sent) == project
    assert event_types(client) == ["project.created"]


def test_slug_never_changes(client: Client, project: dict[str, Any]) -> None:
    assert _put(client, project, name="Another name")["slug"] == "wald"


def test_a_name_may_be_given_twice(client: Client, project: dict[str, Any]) -> None:
    """The slug is unique, not the name: it stays as the first name made it."""
    other = make_project(client, name="Forst")
    assert _put(client, other, name="Wald")["slug"] == "forst"


def test_an_unknown_field_is_refused_and_nothing_changes(
    client: Client, project: dict[str, Any]
) -> None:
    response = client.put(f"/v1/projects/{project['id']}", json={"name": "B", "colour": 1})
    assert response.status_code == 422
    assert client.get(f"/v1/projects/{project['id']}").json["data"] == project


def test_strings_are_trimmed(client: Client, project: dict[str, Any]) -> None:
    assert _put(client, project, name=" Forst ")["name"] == "Forst"
    assert event_types(client) == ["project.created", "project.updated"]


@pytest.mark.usefixtures("_later")
def test_spaces_around_the_same_name_change_nothing(
    client: Client, project: dict[str, Any]
) -> None:
    assert _put(client, project, name="  Wald ") == project
    assert event_types(client) == ["project.created"]


def test_created_at_stays(client: Client, project: dict[str, Any]) -> None:
    assert _put(client, project, name="Forst")["created_at"] == project["created_at"]
