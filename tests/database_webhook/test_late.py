"""A change that is reported after the service itself has changed the row."""

from __future__ import annotations

from typing import Any

import pytest

from tests.database_webhook.reports import boundary, change, insert, report
from tests.make import Client, event_types, make_project, square
from tests.make.signed import result

pytestmark = pytest.mark.both


def _usage(client: Client) -> dict[str, Any]:
    usage: dict[str, Any] = client.get("/v1/account/usage").json["data"]
    return usage


def test_a_row_that_the_service_changed_before_the_change_was_reported_is_counted(
    client: Client,
) -> None:
    """What the service published has the new status; the counters have not."""
    project_id = make_project(client, geometry=square(size=0.01))["id"]
    body = change(client, "projects", project_id, status="archived")
    assert client.put(f"/v1/projects/{project_id}", json={"description": "x"}).status_code == 200
    result(report(client, body))
    projects = _usage(client)["projects"]
    assert (projects["active"], projects["archived"]) == (0, 1)
    assert _usage(client)["hectares"]["current"] == 0


def test_a_new_row_that_the_service_changed_before_it_was_reported_is_published_as_new(
    client: Client,
) -> None:
    body = insert(client, "projects", geometry=boundary())
    project_id = body["record"]["id"]
    assert client.put(f"/v1/projects/{project_id}", json={"name": "New"}).status_code == 200
    for _ in range(2):
        result(report(client, body))
    assert event_types(client) == ["project.updated", "project.created"]
    assert _usage(client)["projects"]["active"] == 1


def test_what_is_reported_in_the_wrong_order_is_published_as_new_once(client: Client) -> None:
    first = insert(client, "projects", geometry=boundary())
    second = change(client, "projects", first["record"]["id"], name="Other")
    for body in (second, first, first, second):
        result(report(client, body))
    assert event_types(client) == ["project.updated", "project.created"]
