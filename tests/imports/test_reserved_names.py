"""Features that are called like a reserved word."""

from __future__ import annotations

from tests.imports.making import act, projects, ready
from tests.make import Client, make_project, square
from tests.make.features import feature


def test_it_gets_the_slug_that_a_new_project_gets(client: Client) -> None:
    act(client, ready(client, feature(square(), name="Admin")), "apply")
    assert projects(client)["Admin"]["slug"] == "admin-2"


def test_it_is_numbered_where_that_slug_is_in_use(client: Client) -> None:
    make_project(client, name="Admin")
    act(client, ready(client, feature(square(), name="Admin")), "apply")
    slugs = {name: project["slug"] for name, project in projects(client).items()}
    assert slugs == {"Admin": "admin-2", "Admin (3)": "admin-3"}


def test_a_feature_without_a_boundary_is_the_same(client: Client) -> None:
    make_project(client, name="Admin")
    assert ready(client, feature(None, name="Admin"))["counts"]["same"] == 1
