"""A version of the service beside the one before it, on the same database, as in an upgrade of
several hosts one after the other."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from flask import Flask
from flask_migrate import upgrade as run_upgrade
from sqlalchemy import text

from app.db import migrations, revisions
from app.db.extensions import db
from config import ROOT
from tests.captured import captured
from tests.db.later_version import folder_with_revisions
from tests.make import make_account

# What a version does with the account of a key: each change, and its health checks.
CALLS = """
import json, os, sys
from app.factory import create_app
from config import load_settings

app = create_app(load_settings())
client = app.test_client()
headers = {"Authorization": "Bearer " + os.environ["KEY"]}
square = {"type": "Polygon", "coordinates": [[[0, 0], [0.01, 0], [0.01, 0.01], [0, 0.01], [0, 0]]]}
statuses = {}

def call(method, path, body=None):
    answer = client.open(path, method=method, json=body, headers=headers)
    statuses[method + " " + path.split("?")[0]] = answer.status_code
    return (answer.json or {}).get("data") if answer.status_code < 300 else None

hook = call("POST", "/v1/webhooks", {"url": "https://example.org/hook", "events": ["*"]})
project = call("POST", "/v1/projects", {"name": "Older", "geometry": square, "external_id": "a"})
path = "/v1/projects/" + project["id"]
call("PUT", path, {"name": "Newer", "metadata": {"a": 1}})
call("PUT", path, {"geometry": square | {"coordinates": [square["coordinates"][0][::-1]]}})
asset = call("POST", path + "/assets", {"name": "Tower", "type": "equipment"})
call("PUT", path + "/assets/" + asset["id"], {"status": "retired"})
call("POST", path + "/archive")
call("GET", "/v1/projects?search=newer&per_page=5")
call("GET", "/v1/events")
call("GET", "/v1/account/usage")
call("POST", "/v1/account/members/invite", {"email": "a@example.org", "role": "viewer"})
call("DELETE", path)
call("DELETE", "/v1/webhooks/" + hook["id"])
statuses["GET /readyz"] = client.get("/readyz").status_code
print(json.dumps(statuses))
"""


@pytest.mark.parametrize(
    ("runs_earlier_code", "is_supported"), [((True, True), True), ((True, False, True), False)]
)
@pytest.mark.slow
def test_which_later_revisions_this_version_runs_on(
    empty_app: Flask, tmp_path: Path, runs_earlier_code: tuple[bool, ...], is_supported: bool
) -> None:
    later = folder_with_revisions(tmp_path, *runs_earlier_code)
    with empty_app.app_context():
        migrations.upgrade()
        run_upgrade(directory=later)
        assert revisions.current_revision() > revisions.newest_revision()
        assert revisions.is_supported() is is_supported
        if is_supported:
            migrations.upgrade()  # does nothing
    status = empty_app.test_client().get("/readyz").status_code
    assert status == (200 if is_supported else 503)


@pytest.mark.slow
@pytest.mark.both
def test_it_works_on_the_tables_of_a_later_version(empty_app: Flask, tmp_path: Path) -> None:
    with empty_app.app_context():
        migrations.upgrade()
        run_upgrade(directory=folder_with_revisions(tmp_path, True))
    client = make_account(empty_app)
    project = client.post("/v1/projects", json={"name": "A"})
    assert project.status_code == 201
    with empty_app.app_context():
        found = db.session.execute(text("SELECT name FROM projects")).scalars().all()
    assert found == ["A"]


@pytest.mark.slow
@pytest.mark.both
def test_the_version_before_this_one_works_on_our_tables(empty_app: Flask, tmp_path: Path) -> None:
    """If the newest revision says so."""
    newest = revisions.newest_revision()
    (file,) = (ROOT / "migrations" / "versions").glob(f"{newest}_*.py")
    if "runs_earlier_code = True" not in file.read_text():
        pytest.skip("the newest revision says that the version before it does not run on it")
    former = extract_version_before(file, tmp_path / "former")
    with empty_app.app_context():
        migrations.upgrade()
    client = make_account(empty_app)
    settings = empty_app.config["SETTINGS"]
    environ = {
        "PATH": os.environ["PATH"],
        "KEY": client.token,
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url or "",
        "INSTANCE_PATH": str(settings.instance_path),
        "SECRET_KEY": settings.secret_key,
        "LOG_LEVEL": "error",
    }
    done = captured([sys.executable, "-c", CALLS], cwd=former, env=environ, timeout=120)
    assert done.returncode == 0, done.stderr
    statuses = json.loads(done.stdout)
    assert {call: status for call, status in statuses.items() if status >= 300} == {}


def extract_version_before(file: Path, folder: Path) -> Path:
    """The code as it was before this file was added, from the history of the repository."""
    git = ["git", "-C", str(ROOT)]
    log = ["log", "--diff-filter=A", "--format=%H", "-1", "--", str(file.relative_to(ROOT))]
    try:
        added = captured(git + log, check=True).stdout.strip()
        commit = f"{added}~1" if added else "HEAD"  # not committed yet
        archive = subprocess.run([*git, "archive", commit], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"needs the history of the repository: {error}")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        if hasattr(tarfile, "data_filter"):  # not before Python 3.11.4
            files.extraction_filter = tarfile.data_filter
        files.extractall(folder)
    return folder
