"""A process of an older version changes nothing once a newer one has migrated the tables."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from flask import Flask
from flask_migrate import upgrade as run_upgrade
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.db.extensions import db
from app.db.migrations import upgrade
from app.db.revisions import newest_revision
from app.db.snapshots import open_transaction
from app.db.transactions import transaction
from tests.db.later_version import folder_with_revisions
from tests.make import make_account, make_project
from tests.waiting import PATIENCE, wait_for


@pytest.mark.both
@pytest.mark.provokes(503)
def test_changes_are_refused_and_reading_goes_on(
    empty_app: Flask, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with empty_app.app_context():
        upgrade()
    client = make_account(empty_app)
    project = make_project(client)
    with empty_app.app_context():
        run_upgrade(directory=folder_with_revisions(tmp_path, False))
        url = db.engine.url
    for _ in range(2):
        refused = client.post("/v1/projects", json={"name": "Later"})
        assert refused.status_code == 503
        assert refused.headers["Retry-After"] == "30"
        assert "another version than its database" in refused.json["error"]["message"]
    assert client.get(f"/v1/projects/{project['id']}").status_code == 200
    ready, health = client.get("/readyz"), client.get("/api/health")
    assert (ready.status_code, ready.json["checks"]["database"]) == (503, "other_version")
    assert (health.status_code, health.json["checks"]["database"]) == (200, "other_version")
    assert health.json["status"] == "degraded"
    (line,) = (each for each in caplog.records if "changes are refused" in each.message)
    assert "Install the version of Canopy that migrated it" in line.message
    with open_transaction(url) as connection:  # as a restore by this version does
        connection.execute(
            text("UPDATE alembic_version SET version_num = :own, oldest_code = :own"),
            {"own": newest_revision()},
        )
    assert client.post("/v1/projects", json={"name": "Later"}).status_code == 201


@pytest.mark.both
@pytest.mark.provokes(503)
def test_without_tables(empty_app: Flask) -> None:
    client = empty_app.test_client()
    for path in ("/readyz", "/api/health"):
        answer = client.get(path)
        assert (answer.status_code, answer.json["checks"]["database"]) == (503, "no_tables")
    with (
        empty_app.app_context(),
        pytest.raises(OperationalError, match="bin/canopy migrate"),
        transaction(),
    ):
        db.session.connection()


@pytest.mark.slow
@pytest.mark.both
def test_changes_and_such_a_migration_wait_for_one_another(
    empty_app: Flask, tmp_path: Path
) -> None:
    """One that began before is made on the former tables; one that comes meanwhile is refused."""
    with empty_app.app_context():
        upgrade()
    later = folder_with_revisions(tmp_path, False)
    (revision,) = Path(later).glob("versions/*_to_come.py")
    begun, goes_on = threading.Event(), threading.Event()
    runs, may_end = tmp_path / "runs", tmp_path / "may_end"
    pause = f"""    import pathlib, time
    pathlib.Path({str(runs)!r}).touch()
    while not pathlib.Path({str(may_end)!r}).exists():
        time.sleep(0.01)
"""
    revision.write_text(f"{revision.read_text()}{pause}")
    outcomes: list[str] = []

    def migrate() -> None:
        with empty_app.app_context():
            run_upgrade(directory=later)

    def change() -> None:
        with empty_app.app_context():
            try:
                with transaction():
                    db.session.connection()
                    begun.set()
                    goes_on.wait(PATIENCE)
            except OperationalError as error:
                outcomes.append(type(error.orig).__name__)
            else:
                outcomes.append("changed")

    threads = [threading.Thread(target=target) for target in (change, migrate, change)]
    threads[0].start()
    begun.wait(PATIENCE)
    threads[1].start()
    threads[1].join(0.3)
    assert not runs.exists()
    goes_on.set()
    wait_for(runs.exists)
    threads[2].start()
    threads[2].join(0.3)
    assert outcomes == ["changed"]
    may_end.touch()
    for thread in threads:
        thread.join(PATIENCE)
    assert outcomes == ["changed", "OtherTables"]
