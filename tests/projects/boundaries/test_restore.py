"""POST /v1/projects/{project_id}/boundaries/{boundary_id}/restore."""

from __future__ import annotations

from typing import Any

import pytest

from tests.audit.log.logs import sql
from tests.make import Client, event_types, events, make_project, square
from tests.projects.boundaries.history import Record, boundaries, geometry_of, put


@pytest.fixture
def project(client: Client) -> Record:
    return make_project(client, geometry=square(10, 50, 0.1))


def restore(client: Client, project: Record, boundary: Record, **headers: str) -> Any:
    path = f"/v1/projects/{project['id']}/boundaries/{boundary['id']}/restore"
    return client.post(path, headers={name.replace("_", "-"): v for name, v in headers.items()})


@pytest.mark.both
def test_a_former_boundary_becomes_the_present_one(client: Client, project: Record) -> None:
    changed = put(client, project, geometry=square(10, 50, 0.2))
    second, first = boundaries(client, project)
    response = restore(client, project, first)
    assert response.status_code == 200
    restored = response.json["data"]
    unchanged = {"geometry": project["geometry"], "area_hectares": project["area_hectares"]}
    assert restored == changed | unchanged | {"updated_at": restored["updated_at"]}
    assert client.get(f"/v1/projects/{project['id']}").json["data"] == restored
    third, *others = boundaries(client, project)
    assert [each["id"] for each in others] == [second["id"], first["id"]]
    assert third["replaced_at"] is None
    assert third["removed_hectares"] == pytest.approx(second["added_hectares"])
    assert (third["added_hectares"], third["source"]) == (0, "api")
    assert geometry_of(client, project, third) == geometry_of(client, project, first)
    last = events(client)[-1]
    assert last["type"] == "project.updated"
    assert last["data"]["changes"]["geometry"] == {"changed": True}


def test_the_present_one_is_left_as_it_is(client: Client, project: Record) -> None:
    (present,) = boundaries(client, project)
    response = restore(client, project, present)
    assert response.status_code == 200
    assert response.json["data"] == project
    assert boundaries(client, project) == [present]
    assert event_types(client) == ["project.created"]


def test_a_project_without_a_boundary_gets_one_again(client: Client, project: Record) -> None:
    put(client, project, geometry=None)
    (former,) = boundaries(client, project)
    assert restore(client, project, former).json["data"]["geometry"] == project["geometry"]
    present, _ = boundaries(client, project)
    assert present["added_hectares"] == present["area_hectares"]


@pytest.mark.both
def test_it_heeds_the_tag_of_the_project(client: Client, project: Record) -> None:
    stale = client.get(f"/v1/projects/{project['id']}").headers["ETag"]
    put(client, project, geometry=square(10, 50, 0.2))
    present, former = boundaries(client, project)
    assert restore(client, project, former, If_Match=stale).status_code == 412
    assert restore(client, project, present, If_Match=stale).status_code == 412
    fresh = client.get(f"/v1/projects/{project['id']}").headers["ETag"]
    response = restore(client, project, former, If_Match=fresh)
    assert response.status_code == 200
    assert response.headers["ETag"] == client.get(f"/v1/projects/{project['id']}").headers["ETag"]


def test_what_was_not_kept_cannot_be_restored(client: Client, project: Record) -> None:
    put(client, project, geometry=square(10, 50, 0.2))
    _, former = boundaries(client, project)
    sql(client, "UPDATE boundaries SET geometry = NULL WHERE id = :id", id=former["id"])
    assert geometry_of(client, project, former) is None
    response = restore(client, project, former)
    assert response.status_code == 409
    assert "was not kept" in response.json["error"]["message"]


def test_what_is_no_longer_valid_is_refused_with_its_problems(
    client: Client, project: Record
) -> None:
    put(client, project, geometry=square(10, 50, 0.2))
    _, former = boundaries(client, project)
    crossed = '{"type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,1],[0,0]]]}'
    statement = "UPDATE boundaries SET geometry = :crossed WHERE id = :id"
    sql(client, statement, id=former["id"], crossed=crossed)
    response = restore(client, project, former)
    assert response.status_code == 422
    (detail,) = response.json["error"]["details"]
    assert detail["field"] == "geometry.coordinates"
    assert "crosses or touches" in detail["message"]
