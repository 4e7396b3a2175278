"""Former boundaries of projects whose boundary was changed with SQL."""

from __future__ import annotations

import pytest

from app.geometry import read_boundary
from tests.database_webhook.reports import boundary, change, delete, insert, report, sql
from tests.make import Client, make_project, square
from tests.projects.boundaries.history import boundaries, geometry_of
from tests.projects.boundary_history.test_shapes import simplify


@pytest.mark.both
def test_a_new_row_begins_with_its_boundary(client: Client) -> None:
    body = insert(client, "projects", geometry=boundary(0.1))
    report(client, body)
    project = {"id": body["record"]["id"]}
    (first,) = boundaries(client, project)
    assert (first["source"], first["created_by"]) == ("database", None)
    assert first["added_hectares"] == first["area_hectares"] > 0
    assert geometry_of(client, project, first) == square(size=0.1)


@pytest.mark.both
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


def test_a_former_boundary_that_was_reported_wrongly_is_not_kept(client: Client) -> None:
    project = make_project(client, geometry=square(size=0.1))
    body = change(client, "projects", project["id"], geometry=boundary(0.2))
    body["old_record"]["geometry"] = boundary(0.3)
    report(client, body)
    present, former = boundaries(client, project)
    assert geometry_of(client, project, former) is None
    assert (present["added_hectares"], present["removed_hectares"]) == (None, None)


def test_a_boundary_that_was_simplified_before_its_report_is_recorded(client: Client) -> None:
    project = make_project(client, geometry=square(size=0.1))
    others = "UPDATE boundaries SET simplified_at = created_at WHERE account_id <> :id"
    waiting = "UPDATE boundaries SET simplified_at = NULL WHERE account_id = :id"
    for statement in (others, waiting):
        sql(client, statement, id=client.account_id)
    text = read_boundary(square(size=0.2)).text
    body = change(client, "projects", project["id"], geometry=text)
    simplify(client)
    report(client, body)
    assert len(boundaries(client, project)) == 2


def test_the_same_boundary_with_other_spaces_makes_no_entry(client: Client) -> None:
    project = make_project(client, geometry=square(size=0.1))
    report(client, change(client, "projects", project["id"], geometry=boundary(0.1)))
    assert len(boundaries(client, project)) == 1


def test_the_bytes_of_a_cleared_boundary_are_counted(client: Client) -> None:
    def stored() -> int:
        found: int = client.get("/v1/account/usage").json["data"]["stored_bytes"]["current"]
        return found

    project = make_project(client, geometry=square(size=0.1))
    size = stored()
    report(client, change(client, "projects", project["id"], geometry=None))
    (former,) = boundaries(client, project)
    assert former["replaced_at"] is not None
    assert geometry_of(client, project, former) == project["geometry"]
    assert stored() == size
    report(client, delete(client, "projects", project["id"]))
    assert stored() == 0
