"""Which index finds what an account already has."""

from __future__ import annotations

import pytest

from app.db import queries
from app.db.extensions import db
from app.geometry import Bounds
from app.imports.features import project_lookup
from tests import query_plans
from tests.make import Client, make_project, square


def test_a_box_is_looked_for_in_the_index_of_boxes(client: Client) -> None:
    """Not in one of all projects of the account, which may be a hundred thousand."""
    project = make_project(client, geometry=square(1, 1, 0.1))

    def look() -> None:
        found = project_lookup.with_box(client.account_id, Bounds(1, 1, 1.1, 1.1), "Alder")
        assert [each.id for each in found] == [project["id"]]

    with client.app.app_context():
        (plan,) = query_plans.of(look, "values")
    assert "projects_box" in plan
    assert "ix_projects_account_id" not in plan


@pytest.mark.both
def test_what_is_looked_up_has_no_plan_of_an_empty_table(client: Client) -> None:
    """PostgreSQL would keep one that reads all projects of the account."""
    with client.app.app_context():
        for _ in range(10):
            project_lookup.has_slug(client.account_id, "alpine")
        if db.engine.dialect.name == "postgresql":
            connection = queries.connection_to(queries.reading_engine())
            cursor = connection.cursor()
            cursor.execute("SELECT statement FROM pg_prepared_statements")
            own = "SELECT projects.id AS id \nFROM projects"  # others may look for a slug, too
            found = [text for (text,) in cursor.fetchall() if text.startswith(own)]
            assert not [text for text in found if "slug =" in text]
