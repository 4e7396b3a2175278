"""Features that are called like a reserved word."""

from __future__ import annotations

from tests.imports.making import act, projects, ready
from tests.make import Client, square
from tests.make.features import feature


def test_it_gets_the_slug_that_a_new_project_gets_or_the_next_one(client: Client) -> None:
    act(client, ready(client, feature(square(), name="Admin")), "apply")
    assert projects(client)["Admin"]["slug"] == "admin-2"
    assert ready(client, feature(square(), name="Admin"))["counts"]["same"] == 1
    act(client, ready(client, feature(square(11), name="Admin")), "apply")
    slugs = {name: project["slug"] for name, project in projects(client).items()}
    assert slugs == {"Admin": "admin-2", "Admin (3)": "admin-3"}
