"""Rows that hold what the API would reject: the report is rejected, and they stay as they are."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tests.database_webhook.reports import boundary, change, report, row_of
from tests.make import Client, event_types, make_asset, make_project, square
from tests.make.signed import result

pytestmark = pytest.mark.both

BOW: Final = {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client, name="Wald", geometry=square(size=0.01))


@pytest.mark.parametrize(
    ("columns", "places"),
    [
        ({"geometry": "{no json"}, {"geometry"}),
        ({"geometry": '{"type":"Point","coordinates":[1,2]}'}, {"geometry.type"}),
        ({"geometry": json.dumps(BOW)}, {"geometry.coordinates"}),
        ({"metadata": "[]"}, {"metadata"}),
        ({"name": " "}, {"name"}),
        ({"name": "\x1b[2J", "external_id": "\u200b"}, {"name", "external_id"}),
        ({"metadata": '{"a":"\\u0007"}'}, {"metadata"}),
    ],
)
def test_a_project_that_the_api_would_reject(
    client: Client, project: dict[str, Any], columns: dict[str, Any], places: set[str]
) -> None:
    body = change(client, "projects", project["id"], description="Other", **columns)
    response = report(client, body)
    assert response.status_code == 422
    assert {each["field"] for each in response.json["error"]["details"]} == places
    assert row_of(client, "projects", project["id"]) == body["record"]
    assert event_types(client) == ["project.created"]


@pytest.mark.parametrize(
    ("columns", "places"),
    [
        ({"location": '{"type":"Point","coordinates":[500,0]}'}, {"location.coordinates"}),
        ({"metadata": "{no json"}, {"metadata"}),
        ({"type": "Camera", "status": "?"}, {"type", "status"}),
    ],
)
def test_an_asset_that_the_api_would_reject(
    client: Client, project: dict[str, Any], columns: dict[str, Any], places: set[str]
) -> None:
    asset = make_asset(client, project["id"])
    response = report(client, change(client, "assets", asset["id"], **columns))
    assert response.status_code == 422
    assert {each["field"] for each in response.json["error"]["details"]} == places
    assert event_types(client)[-1] == "asset.created"


def test_details_are_those_of_a_request(client: Client, project: dict[str, Any]) -> None:
    rejected = client.post("/v1/projects", json={"name": "Bow", "geometry": BOW})
    reported = report(client, change(client, "projects", project["id"], geometry=json.dumps(BOW)))
    assert reported.json["error"]["details"] == rejected.json["error"]["details"]


def test_a_row_that_was_put_right_is_completed(client: Client, project: dict[str, Any]) -> None:
    wrong = change(client, "projects", project["id"], geometry="{}")
    assert report(client, wrong).status_code == 422
    right = change(client, "projects", project["id"], geometry=boundary(0.02))
    assert result(report(client, right)) == "applied"
    assert result(report(client, wrong)) == "ignored"
    assert event_types(client) == ["project.created", "project.updated"]
