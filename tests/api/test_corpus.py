"""Every bad input gets the status, the code and the fields that its table says, and changes
nothing. The codes stand in docs/api-conventions.md, "Errors"."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.api.corpus import CODES, GROUPS, Bad
from tests.make import Client, make_account, make_asset, make_project, square

World = tuple[Client, dict[str, str], Any]


@pytest.fixture
def world(app: Flask) -> World:
    """A caller, the ids that stand in the paths, and all that there is before."""
    client = make_account(app)
    project = make_project(client, name="Kept", geometry=square())
    asset = make_asset(client, project["id"])
    return client, {"project": project["id"], "asset": asset["id"]}, _state(client, project["id"])


def _state(client: Client, project_id: str) -> Any:
    assets = client.get(f"/v1/projects/{project_id}/assets").json
    return client.get("/v1/projects").json, assets, client.get("/v1/account").json["data"]


@pytest.mark.parametrize("group", GROUPS)
def test_bad_input_is_refused_as_its_table_says(
    world: World, group: str, subtests: pytest.Subtests
) -> None:
    client, ids, before = world
    for bad in GROUPS[group]:
        with subtests.test(bad.what):
            _check(_send(client, ids, bad), bad)
    assert _state(client, ids["project"]) == before


def _send(client: Client, ids: dict[str, str], bad: Bad) -> TestResponse:
    path = bad.path
    for name, value in ids.items():
        path = path.replace("{" + name + "}", value)
    body = {"data": bad.body} if isinstance(bad.body, bytes) else {"json": bad.body}
    return client.send(bad.method, path, headers=dict(bad.headers), **body)


def _check(response: TestResponse, bad: Bad) -> None:
    assert response.status_code == bad.status
    if bad.method == "HEAD":
        assert response.get_data() == b""
        return
    error = response.json["error"]
    assert error["code"] == CODES[bad.status]
    assert error["message"]
    named = sorted({detail["field"] for detail in error["details"]})
    expected = [] if bad.fields is None else [bad.fields]
    if bad.fields is not None and bad.fields.strip() == bad.fields:
        expected = sorted(bad.fields.split())
    assert named == expected
