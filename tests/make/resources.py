"""Projects and assets, made through the API."""

from __future__ import annotations

import itertools
from typing import Any

from tests.make.accounts import Client
from tests.make.geometry import square

_numbers = itertools.count(1)


def make_project(client: Client, /, **fields: Any) -> dict[str, Any]:
    """The record of a new project; its name is new unless one is given."""
    body = {"name": f"Forest {next(_numbers)}"} | fields
    response = client.post("/v1/projects", json=body)
    assert response.status_code == 201, response.get_data(as_text=True)
    return response.json["data"]


def make_asset(client: Client, project_id: str, /, **fields: Any) -> dict[str, Any]:
    """The record of a new asset of a project."""
    body = {"name": f"Station {next(_numbers)}", "type": "equipment"} | fields
    response = client.post(f"/v1/projects/{project_id}/assets", json=body)
    assert response.status_code == 201, response.get_data(as_text=True)
    return response.json["data"]


def make_former_boundary(client: Client, project_id: str) -> str:
    """Give a project a boundary and then another one. Returns the id of the first."""
    path = f"/v1/projects/{project_id}"
    for size in (0.1, 0.2):
        response = client.put(path, json={"geometry": square(size=size)})
        assert response.status_code == 200, response.get_data(as_text=True)
    _, former = client.get(f"{path}/boundaries").json["data"][:2]
    boundary_id: str = former["id"]
    return boundary_id
