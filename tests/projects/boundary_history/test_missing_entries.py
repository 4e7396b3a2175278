"""Rows that were changed without their entry: with SQL that was not reported, or by an earlier
version beside this one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import text

from app.db.extensions import db
from app.geometry import read_boundary
from app.usage.counters import counters, recount
from tests.make import Client, make_project, square
from tests.projects.boundaries.history import Record, boundaries, geometry_of, put

pytestmark = pytest.mark.both


@pytest.fixture
def project(client: Client) -> Record:
    return make_project(client, geometry=square(10, 50, 0.1))


def _sql(client: Client, statement: str, **values: Any) -> None:
    with client.app.app_context():
        db.session.execute(text(statement), values)
        db.session.commit()


def change_as_before(client: Client, project: Record, geometry: Any) -> None:
    """Change a boundary as a version does that knows of no entries."""
    boundary = read_boundary(geometry)
    west, south, east, north = boundary.bounds
    _sql(
        client,
        "UPDATE projects SET geometry = :geometry, area_m2 = :area, west = :west, south = :south,"
        " east = :east, north = :north WHERE id = :id",
        id=project["id"], geometry=boundary.text, area=boundary.area_m2,
        west=west, south=south, east=east, north=north,
    )  # fmt: skip


def test_a_project_of_an_earlier_version_gets_its_first_entry_late(
    client: Client, project: Record
) -> None:
    _sql(client, "DELETE FROM boundaries WHERE project_id = :id", id=project["id"])
    assert boundaries(client, project) == []
    changed = put(client, project, geometry=square(10, 50, 0.2))
    present, first = boundaries(client, project)
    unknown = {"source": None, "created_by": None, "created_at": project["created_at"]}
    assert first == first | unknown | {"replaced_at": changed["updated_at"]}
    assert first["added_hectares"] == first["area_hectares"] == project["area_hectares"]
    assert geometry_of(client, project, first) == project["geometry"]
    assert present["added_hectares"] > 0
    assert present["source"] == "api"


def test_a_boundary_that_an_earlier_version_replaced_is_lost_and_its_own_one_kept(
    client: Client, project: Record
) -> None:
    between = square(10, 50, 0.15)
    change_as_before(client, project, between)
    (stale,) = boundaries(client, project)
    assert geometry_of(client, project, stale) is None
    put(client, project, geometry=square(10, 50, 0.2))
    present, late, first = boundaries(client, project)
    assert first["id"] == stale["id"]
    assert first["created_by"]["id"] == client.owner_id
    assert geometry_of(client, project, first) is None
    assert (late["source"], late["created_by"], late["added_hectares"]) == (None, None, None)
    assert geometry_of(client, project, late) == between
    assert present["added_hectares"] > 0


def test_the_text_tells_where_the_area_is_the_same(client: Client, project: Record) -> None:
    same_area = square(11, 50, 0.1)
    _sql(
        client,
        "UPDATE projects SET geometry = :geometry WHERE id = :id",
        id=project["id"], geometry=json.dumps(same_area, separators=(",", ":")),
    )  # fmt: skip
    put(client, project, geometry=square(10, 50, 0.2))
    _, late, first = boundaries(client, project)
    assert geometry_of(client, project, first) is None
    assert geometry_of(client, project, late) == same_area


def test_a_boundary_that_was_cleared_in_the_meantime(client: Client, project: Record) -> None:
    _sql(
        client,
        "UPDATE projects SET geometry = NULL, area_m2 = NULL, west = NULL, south = NULL,"
        " east = NULL, north = NULL WHERE id = :id",
        id=project["id"],
    )
    put(client, project, geometry=square(10, 50, 0.2))
    present, first = boundaries(client, project)
    assert first["replaced_at"] == present["created_at"]
    assert geometry_of(client, project, first) is None


def test_a_project_that_was_moved_to_another_account_begins_anew(
    client: Client, stranger: Client, project: Record
) -> None:
    put(client, project, geometry=square(10, 50, 0.2))
    _sql(
        client,
        "UPDATE projects SET account_id = :account WHERE id = :id",
        id=project["id"], account=stranger.account_id,
    )  # fmt: skip
    assert boundaries(stranger, project) == []
    put(stranger, project, geometry=square(10, 50, 0.3))
    present, first = boundaries(stranger, project)
    assert (first["source"], present["source"]) == (None, "api")


def test_recounting_agrees_with_what_was_counted(client: Client, project: Record) -> None:
    put(client, project, geometry=square(10, 50, 0.2), metadata={"a": 1})
    change_as_before(client, project, square(10, 50, 0.15))
    put(client, project, geometry=None)
    put(client, project, geometry=square(10, 50, 0.25))
    with client.app.app_context():
        counted = counters(client.account_id).stored_bytes
        recount(client.account_id)
        db.session.commit()
        assert counters(client.account_id).stored_bytes == counted
