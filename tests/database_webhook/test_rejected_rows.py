"""Rows that hold what the API would reject: the report is rejected, and they stay as they are."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from werkzeug.test import TestResponse

from tests.database_webhook.reports import boundary, change, report, row_of
from tests.make import Client, event_types, make_asset, make_project, square
from tests.make.signed import result

BOW: Final = {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client, name="Wald", geometry=square(size=0.01))


def test_a_project_that_the_api_would_reject(client: Client) -> None:
    for columns, places in [
        ({"geometry": "{no json"}, {"geometry"}),
        ({"geometry": '{"type":"Point","coordinates":[1,2]}'}, {"geometry.type"}),
        ({"geometry": json.dumps(BOW)}, {"geometry.coordinates"}),
        ({"metadata": "[]"}, {"metadata"}),
        ({"metadata": '{"a":"\\u0007"}'}, {"metadata"}),
        ({"name": " ", "external_id": "\u200b"}, {"name", "external_id"}),
    ]:
        project = make_project(client)
        body = change(client, "projects", project["id"], description="Other", **columns)
        _check_rejected(report(client, body), places)
        assert row_of(client, "projects", project["id"]) == body["record"]
    assert set(event_types(client)) == {"project.created"}


def test_an_asset_that_the_api_would_reject(client: Client, project: dict[str, Any]) -> None:
    for columns, places in [
        ({"location": '{"type":"Point","coordinates":[500,0]}'}, {"location.coordinates"}),
        ({"metadata": "{no json"}, {"metadata"}),
        ({"type": "Camera", "status": "?"}, {"type", "status"}),
    ]:
        asset = make_asset(client, project["id"])
        _check_rejected(report(client, change(client, "assets", asset["id"], **columns)), places)
    assert set(event_types(client)) == {"project.created", "asset.created"}


def _check_rejected(response: TestResponse, places: set[str]) -> None:
    assert response.status_code == 422
    assert {each["field"] for each in response.json["error"]["details"]} == places


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
