"""Rows that hold what a request could not are rejected, and stay as they are
(docs/database-webhook.md)."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from sqlalchemy.exc import DataError

from app.db.extensions import db
from app.values.ids import new_id
from tests.database_webhook.reports import (
    boundary,
    change,
    delete,
    insert,
    report,
    report_of,
    row_of,
    sql,
)
from tests.make import Client, event_types, events, make_asset, make_project, square
from tests.make.signed import result

pytestmark = pytest.mark.both


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client, name="Wald", geometry=square(size=0.01))


@pytest.mark.parametrize(
    ("geometry", "place"),
    [
        ("{no json", "geometry"),
        ("", "geometry"),
        ("null", "geometry"),
        ('{"type":"Point","coordinates":[1,2]}', "geometry.type"),
        ('{"type":"Polygon","coordinates":[[[0,0],[1,1],[0,0]]]}', "geometry.coordinates"),
        (
            '{"type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,1],[0,0]]]}',
            "geometry.coordinates",
        ),
    ],
)
def test_a_boundary_that_the_service_would_reject(
    client: Client, project: dict[str, Any], geometry: str, place: str
) -> None:
    body = change(client, "projects", project["id"], geometry=geometry, name="Other")
    before = row_of(client, "projects", project["id"])
    response = report(client, body)
    assert response.status_code == 422
    details = response.json["error"]["details"]
    assert {detail["field"] for detail in details} == {place}
    assert row_of(client, "projects", project["id"]) == before
    assert event_types(client) == ["project.created"]


def test_details_are_those_of_a_request(client: Client, project: dict[str, Any]) -> None:
    bow = {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}
    rejected = client.post("/v1/projects", json={"name": "Bow", "geometry": bow})
    reported = report(client, change(client, "projects", project["id"], geometry=json.dumps(bow)))
    assert reported.json["error"]["details"] == rejected.json["error"]["details"]


def test_a_row_that_is_put_right_is_taken_over(client: Client, project: dict[str, Any]) -> None:
    wrong = change(client, "projects", project["id"], geometry="{}")
    assert report(client, wrong).status_code == 422
    right = change(client, "projects", project["id"], geometry=boundary(0.02))
    assert result(report(client, right)) == "applied"
    assert result(report(client, wrong)) == "ignored"
    assert event_types(client) == ["project.created", "project.updated"]


@pytest.mark.parametrize(
    ("columns", "places"),
    [
        ({"location": "{}"}, {"location", "location.type", "location.coordinates"}),
        ({"location": '{"type":"Point","coordinates":[500,0]}'}, {"location.coordinates"}),
        ({"metadata": "[]"}, {"metadata"}),
        ({"metadata": "{no json"}, {"metadata"}),
        ({"type": "Camera"}, {"type"}),
        ({"name": " ", "status": "?"}, {"name", "status"}),
    ],
)
def test_an_asset_that_the_service_would_reject(
    client: Client, project: dict[str, Any], columns: dict[str, Any], places: set[str]
) -> None:
    asset = make_asset(client, project["id"])
    response = report(client, change(client, "assets", asset["id"], **columns))
    assert response.status_code == 422
    fields = {detail["field"] for detail in response.json["error"]["details"]}
    assert fields <= places
    assert event_types(client)[-1] == "asset.created"


def test_moments_in_other_forms(client: Client) -> None:
    """PostgreSQL takes no other; in SQLite a moment is whatever somebody wrote."""
    body = insert(client, "projects", created_at="2026-03-04 05:06:07")
    assert result(report(client, body)) == "applied"
    shown = client.get(f"/v1/projects/{body['record']['id']}").json["data"]
    assert shown["created_at"] == "2026-03-04T05:06:07.000Z"
    assert events(client)[-1]["data"]["created_at"] == shown["created_at"]


def test_a_moment_that_is_none(client: Client) -> None:
    with client.app.app_context():
        if db.engine.dialect.name == "postgresql":
            pytest.skip("PostgreSQL keeps nothing else in the column")
    body = insert(client, "projects", created_at="yesterday")
    response = report(client, body)
    assert response.status_code == 422
    assert [detail["field"] for detail in response.json["error"]["details"]] == ["created_at"]
    delete(client, "projects", body["record"]["id"])


def test_moments_that_only_a_database_has(client: Client) -> None:
    """PostgreSQL has infinity and the years before 1; in SQLite any text passes for a moment."""
    with client.app.app_context():
        is_postgresql = db.engine.dialect.name == "postgresql"
    of_postgresql = ("infinity", "0044-03-15 00:00:00+00 BC")
    of_sqlite = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999-12:00")
    for text in of_postgresql if is_postgresql else of_sqlite:
        columns = {"id": new_id("project"), "created_at": text}
        with contextlib.suppress(ValueError, OverflowError, DataError):  # its driver cannot read it
            insert(client, "projects", **columns)
        response = report(client, report_of("INSERT", "projects", {"id": columns["id"]}, None))
        assert response.status_code == 422, text
        sql(client, "DELETE FROM projects WHERE id = :id", id=columns["id"])


@pytest.mark.parametrize("column", ["name", "description", "slug"])
def test_bytes_where_text_should_be(client: Client, column: str) -> None:
    with client.app.app_context():
        if db.engine.dialect.name == "postgresql":
            pytest.skip("PostgreSQL keeps nothing else in the column")
    project = make_project(client)["id"]
    sql(client, f"UPDATE projects SET {column} = x'00ff' WHERE id = :id", id=project)
    response = report(client, report_of("UPDATE", "projects", {"id": project}, {"id": project}))
    assert response.status_code == 422
    assert [detail["field"] for detail in response.json["error"]["details"]] == [column]
    sql(client, f"UPDATE projects SET {column} = 'x' WHERE id = :id", id=project)
