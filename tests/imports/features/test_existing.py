"""Which index finds what an account already has."""

from __future__ import annotations

from app.geometry import Bounds
from app.imports.features import existing
from bench import query_plans
from tests.make import Client, make_project, square


def test_a_box_is_looked_for_in_the_index_of_boxes(client: Client) -> None:
    """Not in one of all projects of the account, which may be a hundred thousand."""
    project = make_project(client, geometry=square(1, 1, 0.1))

    def look() -> None:
        found = existing.with_box(client.account_id, Bounds(1, 1, 1.1, 1.1), "Alder")
        assert [each.id for each in found] == [project["id"]]

    with client.app.app_context():
        (plan,) = query_plans.of(look, "values")
    assert "projects_box" in plan
    assert "ix_projects_account_id" not in plan
