"""Projects through the API."""

from __future__ import annotations

from tests.make import Client, make_project, square


def test_created_project_is_active_and_has_an_area(client: Client) -> None:
    project = make_project(client, name="Schwarzwald", geometry=square(8, 48))
    assert project["status"] == "active"
    assert project["slug"] == "schwarzwald"
    read = client.get(f"/v1/projects/{project['id']}")
    assert read.json["data"] == project


def test_list(client: Client) -> None:
    make_project(client)
    assert client.get("/v1/projects").json["meta"]["total"] == 1
