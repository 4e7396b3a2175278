"""The shapes that are stored for maps: by the job, and gone with the project."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.db.extensions import db
from app.db.transactions import transaction
from app.projects.boundary_history import shape_backlog
from app.projects.boundary_history.jobs import simplify_boundaries
from app.projects.boundary_history.shape_backlog import ShapeBacklog
from tests.audit.log.logs import sql
from tests.jobs.due import run_if_due
from tests.make import Client, make_account, make_project, square
from tests.projects.map.test_map import long_boundary


def levels(client: Client) -> list[tuple[int, int]]:
    """Of an account's shapes: the level, and how long the text is."""
    statement = text(
        "SELECT level, length(geometry) AS size FROM boundary_shapes WHERE account_id = :id"
        " ORDER BY level DESC"
    )
    with client.app.app_context():
        rows = db.session.execute(statement, {"id": client.account_id}).all()
        return [(row.level, row.size) for row in rows]


def waiting(client: Client) -> int:
    statement = text(
        "SELECT count(*) FROM boundaries WHERE account_id = :id AND replaced_at IS NULL"
        " AND simplified_at IS NULL"
    )
    with client.app.app_context():
        return int(db.session.execute(statement, {"id": client.account_id}).scalar_one())


def simplify(client: Client) -> int:
    """Run the job until nothing waits: other tests may have left more than one run makes."""
    made = 0
    with client.app.app_context():
        while number := run_if_due(simplify_boundaries):
            made += number
    return made


def forget_shapes(client: Client) -> None:
    """Leave the entries as they are until the job runs."""
    with client.app.app_context(), transaction():
        for change in ("DELETE FROM boundary_shapes", "UPDATE boundaries SET simplified_at = NULL"):
            statement = text(f"{change} WHERE account_id = :id")
            db.session.execute(statement, {"id": client.account_id})


@pytest.mark.both
def test_the_job_makes_those_of_new_boundaries(client: Client) -> None:
    for size in (0.1, 0.05):
        make_project(client, geometry=square(size=size))
    assert (levels(client), waiting(client)) == ([], 2)
    assert simplify(client) >= 2
    assert [level for level, _ in levels(client)] == [11, 11, 8, 8, 5]
    assert waiting(client) == 0


@pytest.mark.both
def test_a_changed_boundary_has_its_own_ones(client: Client) -> None:
    project = make_project(client, geometry=square(size=0.1))
    simplify(client)
    client.put(f"/v1/projects/{project['id']}", json={"geometry": square(size=0.01)})
    assert (levels(client), waiting(client)) == ([], 1)
    simplify(client)
    assert [level for level, _ in levels(client)] == [11, 8]
    client.put(f"/v1/projects/{project['id']}", json={"geometry": None})
    assert levels(client) == []


def test_a_deleted_project_has_none(client: Client) -> None:
    project = make_project(client, geometry=square(size=0.1))
    simplify(client)
    assert levels(client)
    client.post(f"/v1/projects/{project['id']}/archive")
    client.delete(f"/v1/projects/{project['id']}")
    assert levels(client) == []


@pytest.mark.slow
def test_a_long_boundary_has_them_at_all_zooms(client: Client) -> None:
    make_project(client, geometry=long_boundary())
    assert simplify(client) >= 1
    assert [level for level, _ in levels(client)] == [14, 11, 8, 5]
    assert waiting(client) == 0


def test_the_job_goes_on_after_what_sql_has_broken(client: Client) -> None:
    broken, *_ = [make_project(client, geometry=square(size=size)) for size in (0.1, 0.2)]
    forget_shapes(client)
    sql(client, "UPDATE projects SET geometry = '{}' WHERE id = :id", id=broken["id"])
    simplify(client)
    assert waiting(client) == 0
    assert len(levels(client)) == 3


@pytest.mark.both
@pytest.mark.parametrize("geometry", [square(size=0.3), None])
def test_a_boundary_that_is_replaced_meanwhile_keeps_its_own_shapes(
    client: Client, geometry: Any
) -> None:
    project = make_project(client, geometry=square(size=0.1))
    forget_shapes(client)
    with client.app.app_context():
        job = ShapeBacklog()
        batch = job.read()
    client.put(f"/v1/projects/{project['id']}", json={"geometry": geometry})
    before = levels(client)
    with client.app.app_context(), transaction():
        assert job.write([each for each in batch if each.key[1] == project["id"]]) == 0
    assert levels(client) == before


def test_accounts_take_turns(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of each, however many boundaries of another one wait."""
    monkeypatch.setattr(shape_backlog, "BATCH_BYTES", 1)
    simplify(client)
    other = make_account(app)
    for owner, number in ((client, 3), (other, 1)):
        for _ in range(number):
            make_project(owner, geometry=square(size=0.1))
        forget_shapes(owner)
    with client.app.app_context():
        job = ShapeBacklog()
        owners = [each.key[0] for _ in range(4) for each in job.read()]
        assert job.read() == []
    assert set(owners[:2]) == {client.account_id, other.account_id}
    assert owners[2:] == [client.account_id] * 2
