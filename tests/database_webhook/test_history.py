"""Boundaries changed with SQL and reported: each gets an entry."""

from __future__ import annotations

import pytest

from tests.database_webhook.reports import boundary, change, delete, insert, report
from tests.make import Client, make_project, square
from tests.projects.boundaries.history import boundaries, geometry_of, put

pytestmark = pytest.mark.both


def test_a_new_row_begins_with_its_boundary(client: Client) -> None:
    body = insert(client, "projects", geometry=boundary(0.1))
    assert report(client, body).json["data"]["result"] == "applied"
    project = {"id": body["record"]["id"]}
    (first,) = boundaries(client, project)
    assert (first["source"], first["created_by"]) == ("database", None)
    assert first["added_hectares"] == first["area_hectares"] > 0
    assert geometry_of(client, project, first) == square(size=0.1)


def test_a_changed_boundary_keeps_the_one_that_was_reported(client: Client) -> None:
    project = make_project(client, geometry=square(size=0.1))
    body = change(client, "projects", project["id"], geometry=boundary(0.2))
    for _ in range(2):
        report(client, body)
    present, former = boundaries(client, project)
    assert (present["source"], present["created_by"]) == ("database", None)
    assert present["added_hectares"] > present["removed_hectares"] == 0
    assert former["source"] == "api"
    assert geometry_of(client, project, former) == project["geometry"]
    assert geometry_of(client, project, present) == square(size=0.2)


def test_what_was_reported_wrongly_is_not_believed(client: Client) -> None:
    project = make_project(client, geometry=square(size=0.1))
    body = change(client, "projects", project["id"], geometry=boundary(0.2))
    body["old_record"]["geometry"] = boundary(0.3)
    report(client, body)
    present, former = boundaries(client, project)
    assert geometry_of(client, project, former) is None
    assert (present["added_hectares"], present["removed_hectares"]) == (None, None)


def test_other_columns_make_no_entry(client: Client) -> None:
    project = make_project(client, geometry=square(size=0.1))
    report(client, change(client, "projects", project["id"], name="Forst"))
    assert len(boundaries(client, project)) == 1


def test_a_cleared_boundary_and_a_report_of_our_own_change(client: Client) -> None:
    project = make_project(client, geometry=square(size=0.1))
    body = change(client, "projects", project["id"], geometry=None)
    report(client, body)
    (former,) = boundaries(client, project)
    assert former["replaced_at"] is not None
    assert geometry_of(client, project, former) == project["geometry"]
    put(client, project, geometry=square(size=0.2))
    report(client, body)
    assert len(boundaries(client, project)) == 2


def test_their_bytes_are_counted(client: Client) -> None:
    def stored() -> int:
        found: int = client.get("/v1/account/usage").json["data"]["stored_bytes"]["current"]
        return found

    project = make_project(client, geometry=square(size=0.1))
    size = stored()
    report(client, change(client, "projects", project["id"], geometry=None))
    assert stored() == size
    report(client, delete(client, "projects", project["id"]))
    assert stored() == 0
