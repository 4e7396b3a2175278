"""What the API says of the boundaries that a project has had."""

from __future__ import annotations

from typing import Any

from tests.make import Client

Record = dict[str, Any]


def boundaries(client: Client, project: Record, **query: Any) -> list[Record]:
    """The boundaries of a project, the newest first."""
    words = "&".join(f"{name}={value}" for name, value in query.items())
    response = client.get(f"/v1/projects/{project['id']}/boundaries?{words}")
    assert response.status_code == 200, response.json
    found: list[Record] = response.json["data"]
    return found


def geometry_of(client: Client, project: Record, boundary: Record) -> Any:
    """The geometry of one of them."""
    path = f"/v1/projects/{project['id']}/boundaries/{boundary['id']}"
    return client.get(path).json["data"]["geometry"]


def put(client: Client, project: Record, **fields: Any) -> Record:
    """The record of a project after a change."""
    response = client.put(f"/v1/projects/{project['id']}", json=fields)
    assert response.status_code == 200, response.json
    changed: Record = response.json["data"]
    return changed
