"""``doctor --repair``: rows that were damaged with SQL are as they should be, and nothing else is
written."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any

import orjson
import pytest
from flask import Flask
from sqlalchemy import text

from app.db.extensions import db
from app.db.snapshots import open_snapshot
from app.doctor.derived import wrong_rows
from app.projects.boundary_history import jobs
from tests.cli.conftest import runner
from tests.doctor.test_doctor import environ_of, findings_of, problems
from tests.maintenance.conftest import MakeInstance, close
from tests.maintenance.contents import checksums, fill, url_of
from tests.make import Client, event_types, make_account, make_asset, make_project, point, square

pytestmark = pytest.mark.slow


def execute(app: Flask, statement: str) -> int:
    with app.app_context(), db.engine.begin() as connection:
        return connection.execute(text(statement)).rowcount


def repaired(app: Flask, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    for name, value in environ_of(app).items():
        monkeypatch.setenv(name, value)
    done = runner(app)("doctor", "--repair", "--json")
    found = orjson.loads(done.stdout)
    assert done.exit_code == 0, [each for each in found["checks"] if each["advice"]]
    return {"repaired": found["repaired"], "refused": found["refused"]}


def simplify(app: Flask) -> None:
    with app.app_context():
        jobs.simplify_boundaries()


def _made(app: Flask) -> tuple[Client, str, str]:
    client = make_account(app)
    project = make_project(client, name="Żółw", geometry=square(size=0.1))["id"]
    client.put(f"/v1/projects/{project}", json={"geometry": square(size=0.2)})
    asset = make_asset(client, project, name="Sensor é", location=point(1, 2), external_id="É-1")[
        "id"
    ]
    make_project(client, name="Without")
    simplify(app)
    return client, project, asset


# Statements that damage; the kind that is repaired: its rows are as they were before.
OF_PROJECTS = {
    "columns": "UPDATE projects SET area_m2 = 5, west = west - 1, stored_bytes = 0,"
    " name_key = 'x', search_text = 'y' WHERE geometry IS NOT NULL",
    "no area": "UPDATE projects SET area_m2 = NULL WHERE geometry IS NOT NULL",
    "a box of nothing": "UPDATE projects SET west = 0, area_m2 = 3 WHERE geometry IS NULL",
}
OF_SHAPES = {
    "no shapes": "DELETE FROM boundary_shapes",
    "a level too few": "DELETE FROM boundary_shapes WHERE level = 8",
    "shapes of another area": "UPDATE boundary_shapes SET area_m2 = 1",
}


def test_columns_of_projects(instance: Flask, monkeypatch) -> None:
    client, *_ = _made(instance)
    before = _whole(client)
    for damage, statement in OF_PROJECTS.items():
        assert execute(instance, statement) == 1
        done = repaired(instance, monkeypatch)
        assert list(done["repaired"]) in (["projects"], ["projects", "counters"]), damage
        assert len(done["repaired"]["projects"]) == 1
        assert _whole(client) == before, damage
    assert event_types(client).count("project.updated") == 1  # that of the new boundary
    assert repaired(instance, monkeypatch) == {"repaired": {}, "refused": {}}


def _whole(client: Client) -> Any:
    """What an account shows of its projects, but for the time of the last change."""
    found = [client.get("/v1/projects?search=żół&sort=name"), client.get("/v1/account/usage")]
    shown = [each.json["data"] for each in found]
    for project in shown[0]:
        del project["updated_at"]
    return shown[0], {name: shown[1][name] for name in ("hectares", "projects", "stored_bytes")}


def test_shapes_of_maps(make_instance: MakeInstance, monkeypatch) -> None:
    app = make_instance("sqlite")
    _, project, _ = _made(app)
    before = checksums(app)["boundary_shapes"]
    for damage, statement in OF_SHAPES.items():
        assert execute(app, statement) > 0
        done = repaired(app, monkeypatch)
        assert done == {"repaired": {"map shapes": [project]}, "refused": {}}, damage
        simplify(app)
        assert checksums(app)["boundary_shapes"] == before, damage


def test_assets(make_instance: MakeInstance, monkeypatch) -> None:
    app = make_instance("sqlite")
    _, _, asset = _made(app)
    before = checksums(app)["assets"]
    execute(app, "UPDATE assets SET longitude = 7, search_text = 'x'")
    assert repaired(app, monkeypatch)["repaired"] == {"assets": [asset]}
    execute(app, "UPDATE assets SET updated_at = created_at")
    assert checksums(app)["assets"] == before


def test_what_is_derived_from_boundaries_is_made_again(instance: Flask, monkeypatch) -> None:
    """Entries of the history, shapes and counted bytes."""
    client, project, _ = _made(instance)
    shapes = checksums(instance)["boundary_shapes"]
    execute(instance, "DELETE FROM boundary_shapes")
    execute(instance, "DELETE FROM boundaries WHERE replaced_at IS NULL")
    execute(instance, "UPDATE projects SET stored_bytes = 0")
    execute(instance, "UPDATE account_usage SET stored_bytes = 0")
    done = repaired(instance, monkeypatch)["repaired"]
    assert done["projects"] == [project]
    assert done["counters"] == [client.account_id]
    simplify(instance)
    assert checksums(instance)["boundary_shapes"] == shapes
    (present, _) = client.get(f"/v1/projects/{project}/boundaries").json["data"]
    assert (present["source"], present["created_by"]) == ("database", None)


def test_bytes_of_former_boundaries(make_instance: MakeInstance, monkeypatch) -> None:
    instance = make_instance("sqlite")
    client, project, _ = _made(instance)
    before = checksums(instance)["boundaries"]
    assert execute(instance, "UPDATE boundaries SET stored_bytes = stored_bytes + 1") == 2
    stored = "(SELECT sum(stored_bytes) FROM boundaries)"
    execute(instance, f"UPDATE account_usage SET stored_bytes = stored_bytes + {stored}")
    done = repaired(instance, monkeypatch)["repaired"]
    assert done == {"projects": [project], "counters": [client.account_id]}
    assert checksums(instance)["boundaries"] == before


def test_a_boundary_changed_with_sql_is_published_and_recorded(
    make_instance: MakeInstance, monkeypatch
) -> None:
    instance = make_instance("sqlite")
    client, project, _ = _made(instance)
    text_ = "(SELECT geometry FROM boundaries WHERE geometry IS NOT NULL)"
    execute(instance, f"UPDATE projects SET geometry = {text_} WHERE geometry IS NOT NULL")
    assert repaired(instance, monkeypatch)["repaired"]["projects"] == [project]
    (present, *_) = client.get(f"/v1/projects/{project}/boundaries").json["data"]
    assert present["source"] == "database"
    assert event_types(client).count("project.updated") == 2
    entry = client.get("/v1/audit-log?per_page=1").json["data"][0]
    assert (entry["action"], entry["target"]["id"]) == ("project.updated", project)
    assert entry["actor"]["type"] == "operator"
    with instance.app_context():
        wanted = "SELECT body FROM audit_entries WHERE account_id = 'instance'"
        (body,) = db.session.scalars(text(wanted))
    found = orjson.loads(body)
    assert found["action"] == "instance.repaired"
    assert found["via"]["user_agent"] == "bin/canopy doctor"
    assert found["changes"]["projects"] == {"from": None, "to": 1}


def test_what_is_right_is_not_written(instance: Flask, monkeypatch) -> None:
    fill(instance)
    before = checksums(instance)
    assert repaired(instance, monkeypatch) == {"repaired": {}, "refused": {}}
    assert checksums(instance) == before


def test_a_row_that_the_api_would_reject_is_named(make_instance: MakeInstance, monkeypatch) -> None:
    instance = make_instance("sqlite")
    client, project, _ = _made(instance)
    execute(instance, "UPDATE projects SET geometry = '{}' WHERE geometry IS NOT NULL")
    execute(instance, "UPDATE account_usage SET projects_active = 9")
    for name, value in environ_of(instance).items():
        monkeypatch.setenv(name, value)
    done = runner(instance)("doctor", "--repair")
    assert done.exit_code == 1
    assert f"Repaired counters: 1 ({client.account_id})" in done.stdout
    assert f"Not repaired: {project}: first correct what the API would reject (geometry" in (
        done.stdout
    )


def test_each_project_of_many_is_looked_at(make_instance: MakeInstance, monkeypatch) -> None:
    app = make_instance("sqlite")
    client = make_account(app)
    for _ in range(65):
        make_project(client, geometry=square())
    ids = {each["id"] for each in client.get("/v1/projects?per_page=100").json["data"]}
    execute(app, "UPDATE projects SET name_key = 'x'")
    with open_snapshot(url_of(app)) as connection:
        assert 1 <= len(list(wrong_rows(connection, 10))) <= 10
    assert set(repaired(app, monkeypatch)["repaired"]["projects"]) == ids


INDEXES = {
    "projects_text": "INSERT INTO projects_text(projects_text) VALUES ('delete-all')",
    "assets_text": "INSERT INTO assets_text(rowid, mark, words) VALUES (1, 'abc', 'others')",
    "projects_box": "DELETE FROM projects_box",
    "assets_box": 'INSERT INTO assets_box("row", west, east, south, north) VALUES (99, 0, 0, 0, 0)',
    "account_assets_box": "DELETE FROM account_assets_box",
}


def test_indexes_of_sqlite(make_instance: MakeInstance, monkeypatch) -> None:
    app = make_instance("sqlite")
    client, project, asset = _made(app)
    boxes = "SELECT * FROM projects_box UNION ALL SELECT * FROM assets_box"
    boxes = f"{boxes} UNION ALL SELECT * FROM account_assets_box"

    def content() -> list[Any]:
        with app.app_context(), db.engine.connect() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(boxes)]

    before = content()
    close(app)
    with contextlib.closing(sqlite3.connect(url_of(app).database or "")) as connection:
        for statement in INDEXES.values():
            connection.executescript(statement)
    assert sorted(repaired(app, monkeypatch)["repaired"]["indexes"]) == sorted(INDEXES)
    assert content() == before
    found = client.get("/v1/projects?search=żółw&bbox=-180,-90,180,90").json["data"]
    assert [each["id"] for each in found] == [project]
    found = client.get(f"/v1/projects/{project}/assets?search=sensor&bbox=0,0,9,9").json["data"]
    assert [each["id"] for each in found] == [asset]
    assert problems(findings_of(environ_of(app))) == set()
