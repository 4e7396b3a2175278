"""Who may change features."""

from __future__ import annotations

from typing import Any

from tests.make import Client, events, make_asset, make_key, make_project
from tests.ogc.reading import error

PROJECTS = "/ogc/collections/projects/items"
ASSETS = "/ogc/collections/assets/items"


def feature(geometry: Any = None, /, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": properties}


WRITES = [
    ("POST", PROJECTS), ("PUT", f"{PROJECTS}/{{project}}"), ("PATCH", f"{PROJECTS}/{{project}}"),
    ("DELETE", f"{PROJECTS}/{{project}}"), ("POST", ASSETS), ("PUT", f"{ASSETS}/{{asset}}"),
    ("PATCH", f"{ASSETS}/{{asset}}"), ("DELETE", f"{ASSETS}/{{asset}}"),
]  # fmt: skip


def test_a_key_that_can_only_read_changes_nothing(client: Client) -> None:
    project = make_project(client)
    asset = make_asset(client, project["id"])
    reader = make_key(client, permissions=["projects:read", "assets:read"])
    before = events(client)
    for method, path in WRITES:
        body = None if method == "DELETE" else feature(None, name="X")
        address = path.format(project=project["id"], asset=asset["id"])
        assert ":write" in error(reader.send(method, address, json=body), 403)
    assert events(client) == before


def test_options_say_whether_a_credential_can_edit(client: Client) -> None:
    reader = make_key(client, permissions=["projects:read"])
    for key, path, expected in (
        (client, PROJECTS, "GET, HEAD, OPTIONS, POST"),
        (client, f"{PROJECTS}/unknown_id", "GET, HEAD, OPTIONS, PUT, PATCH, DELETE"),
        (reader, PROJECTS, "GET, HEAD, OPTIONS"),
        (reader, f"{PROJECTS}/unknown_id", "GET, HEAD, OPTIONS"),
    ):
        response = key.send("OPTIONS", path)
        assert (response.status_code, response.headers["Allow"]) == (204, expected)
    assert client.nobody().send("OPTIONS", PROJECTS).status_code == 401
