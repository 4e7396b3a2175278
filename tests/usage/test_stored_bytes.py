"""Bytes of boundaries and metadata: counted, and bounded by MAX_ACCOUNT_BYTES."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from flask import Flask

from tests.make import Client, event_types, make_account, make_asset, make_project, square
from tests.make.apps import second_app


def _stored(client: Client) -> int:
    current: int = client.get("/v1/account/usage").json["data"]["stored_bytes"]["current"]
    return current


@pytest.mark.both
def test_they_follow_every_change(client: Client) -> None:
    assert _stored(client) == 0
    project = make_project(client, geometry=square(), metadata={"ä": "x"})
    path = f"/v1/projects/{project['id']}"
    boundary = _stored(client) - len('{"ä":"x"}'.encode())
    assert 60 < boundary < 200
    client.put(path, json={"metadata": None, "description": "not counted"})
    assert _stored(client) == boundary
    asset = make_asset(client, project["id"], metadata={"a": 1})
    assert _stored(client) == boundary + 7
    client.put(f"{path}/assets/{asset['id']}", json={"metadata": {"a": 12345}})
    assert _stored(client) == boundary + 11
    make_asset(client, project["id"], metadata={"b": 1})
    client.delete(f"{path}/assets/{asset['id']}")
    assert _stored(client) == boundary + 7
    client.put(path, json={"geometry": None})
    assert _stored(client) == boundary + 7, "it is kept as a former boundary"
    client.put(path, json={"geometry": square()})
    client.post(f"{path}/archive")
    assert _stored(client) == 2 * boundary + 7
    client.delete(path)
    assert _stored(client) == 0


def test_what_would_go_past_the_bound_is_refused(app: Flask) -> None:
    with second_app(app, max_account_bytes=400) as made:
        client = make_account(made)
        project = make_project(client, geometry=square(), metadata={"note": "x" * 100})
        path, before = f"/v1/projects/{project['id']}", _stored(client)
        known = event_types(client)
        body: dict[str, Any]
        for method, target, body in (
            ("POST", "/v1/projects", {"name": "B", "metadata": {"note": "x" * 300}}),
            ("PUT", path, {"metadata": {"note": "x" * 350}}),
            ("POST", f"{path}/assets", {"name": "B", "type": "x", "metadata": {"a": "x" * 300}}),
        ):
            refused = client.send(method, target, json=body)
            assert refused.status_code == 403, target
            assert refused.json["error"]["code"] == "FORBIDDEN"
            (detail,) = refused.json["error"]["details"]
            assert (detail["field"], detail["code"]) == ("", "storage")
            assert f"stores {before:,} of at most" in detail["message"]
            assert "at most 400" in detail["message"]
        assert (_stored(client), event_types(client)) == (before, known)
        assert client.put(path, json={"metadata": {"note": "y" * 90}}).status_code == 200
        assert make_project(client, name="Small")["geometry"] is None
    lower = {"max_account_bytes": 10}
    with second_app(app, **lower) as made:
        client = dataclasses.replace(client, app=made)
        assert client.put(path, json={"metadata": None}).status_code == 200
