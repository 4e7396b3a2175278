"""A deleted project is gone at once by every door, and its rows go in batches."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.db import batched_deletion
from app.db.batched_deletion import delete_batches
from app.db.extensions import db
from app.db.transactions import transaction
from app.jobs import runs, shutdown
from app.maintenance.sqlite_indexes import count_faults, text_faults
from app.models import Asset, Project
from app.projects import deletion, jobs
from app.usage.counters import recount_usage
from config import ROOT
from tests.account.deletion.contents import rows_of_account
from tests.account.deletion.support import make_due, run_job
from tests.exports.account_export.archives import archive_of
from tests.make import Client, event_types, make_asset, make_project, square
from tests.make.apps import CHEAP_PASSWORDS
from tests.make.audit import new_entries
from tests.make.together import until_it_waits
from tests.projects.large_project import ASSETS, LargeProject, make_batches_small

# What shows projects or assets, each with those that are left.
LISTS: Final = (
    "/v1/projects",
    "/v1/projects?search=beech",
    "/v1/projects?bbox=9,39,12,42",
    "/v1/projects?updated_since=2020-01-01T00:00:00Z&status=archived",
    "/v1/projects/map?zoom=9",
    "/v1/projects/map?zoom=9&bbox=9,39,12,42",
    "/v1/projects/map?zoom=9&search=beech",
    "/v1/assets",
    "/v1/assets?search=beech",
    "/v1/assets?bbox=9,39,12,42",
    "/v1/assets?status=active&type=sensor",
    "/v1/assets?sort=updated_at&updated_since=2020-01-01T00:00:00Z",
    "/v1/exports/projects?format=geojson",
    "/v1/exports/projects?format=csv&search=beech",
    "/v1/exports/assets?format=geojson",
    "/v1/exports/assets?format=csv&status=active",
    "/ogc/collections/projects/items?f=json",
    "/ogc/collections/projects/items?f=json&bbox=9,39,12,42",
    "/ogc/collections/projects/items?f=json&filter=name%20LIKE%20'Beech%25'",
    "/ogc/collections/assets/items?f=json",
    "/ogc/collections/assets/items?f=json&bbox=9,39,12,42",
    "/ogc/collections/assets/items?f=json&filter=type%20=%20'sensor'",
)
ITEMS: Final = (
    "/v1/projects/{gone}",
    "/v1/projects/{gone}/overlaps",
    "/v1/projects/{gone}/boundaries",
    "/v1/projects/{gone}/boundaries/{boundary}",
    "/v1/projects/{gone}/assets",
    "/v1/projects/{gone}/assets/{asset}",
    "/ogc/collections/projects/items/{gone}?f=json",
    "/ogc/collections/assets/items/{asset}?f=json",
)
FEATURE: Final = {"type": "Feature", "geometry": None, "properties": {"name": "L", "type": "x"}}


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    make_batches_small(monkeypatch)


@pytest.fixture
def large(client: Client) -> LargeProject:
    made = LargeProject(client)
    made.run_job()  # those of former tests
    return made


@pytest.mark.both
def test_it_is_gone_at_once_by_every_door(large: LargeProject, subtests: pytest.Subtests) -> None:
    client = large.client
    for form in ITEMS:
        assert client.get(large.path(form)).status_code == 200, form
    for form in LISTS:
        assert _shown(large, form) == {"kept", "gone"}, form
    large.delete()
    assert large.rows()["assets"] == ASSETS
    for form in LISTS:
        with subtests.test(form):
            assert _shown(large, form) == {"kept"}
    for form in ITEMS:
        with subtests.test(form):
            assert client.get(large.path(form)).status_code == 404
    for form, body in (
        ("/v1/projects/{gone}", {"name": "Back"}),
        ("/v1/projects/{gone}/assets/{asset}", {"name": "Back"}),
    ):
        assert client.put(large.path(form), json=body).status_code == 404
    for form in ("/restore", "/archive", "/assets"):
        body = {"name": "Late", "type": "sensor"}
        assert client.post(f"/v1/projects/{large.gone}{form}", json=body).status_code == 404
    assert client.delete(large.path("/v1/projects/{gone}/assets/{asset}")).status_code == 404
    assert client.get("/v1/assets").json["meta"]["total"] == ASSETS
    again = make_project(client, name="Beech gone", external_id="Beech gone")
    assert again["slug"] == "beech-gone"
    found = client.get("/v1/projects?external_id=Beech+gone").json["data"]
    assert [each["id"] for each in found] == [again["id"]]


def _shown(large: LargeProject, form: str) -> set[str]:
    """Which of the projects an answer shows, or whose assets."""
    answer = large.client.get(large.path(form))
    assert answer.status_code == 200, form
    body = answer.get_data(as_text=True)
    names = {"kept": (large.kept, large.kept_asset), "gone": (large.gone, large.asset)}
    return {name for name, ids in names.items() if any(each in body for each in ids)}


@pytest.mark.both
def test_it_is_counted_and_told_once(large: LargeProject) -> None:
    client = large.client
    before, known = large.stored_bytes(), event_types(client)
    with new_entries(client) as entries:
        large.delete()
        assert client.delete(f"/v1/projects/{large.gone}").status_code == 404
        between = large.stored_bytes()
        assert between * 2 == before
        assert client.get("/v1/account").json["data"]["usage"]["projects"] == 1
        assert large.wrong_counters() == []
        with client.app.app_context(), transaction():
            recount_usage(client.account_id)
        assert large.stored_bytes() == between
        assert large.run_job() > 0
        assert large.stored_bytes() == between
        assert large.wrong_counters() == []
        assert client.delete(f"/v1/projects/{large.gone}").status_code == 404
    assert event_types(client) == [*known, "project.deleted"]
    assert [each["action"] for each in entries] == ["project.deleted"]


@pytest.mark.both
def test_the_rows_go_in_batches_with_all_index_entries(
    large: LargeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = _index_faults(large.client.app)  # of other tests
    large.delete()
    left = list[int]()
    monkeypatch.setattr(runs, "pause_after", lambda _: left.append(sum(large.rows().values())))
    assert large.run_job() > 0
    assert len(left) == 6  # four of assets, one of former boundaries, the project
    assert left == sorted(left, reverse=True)
    assert not any(large.rows().values())
    assert _index_faults(large.client.app) == faults
    assert large.client.get("/v1/assets?search=beech").json["meta"]["total"] == ASSETS


def _index_faults(app: Flask) -> list[str]:
    """What is wrong with the indexes that SQLite keeps beside the tables."""
    with app.app_context(), db.engine.begin() as connection:
        if connection.dialect.name != "sqlite":
            return []
        return count_faults(connection) + text_faults(connection)


def test_batches_have_no_more_bytes_than_they_may(
    large: LargeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batched_deletion, "BATCH_BYTES", 1)
    with large.client.app.app_context(), transaction():
        own = select(Asset).where(Asset.project_id == large.gone)
        steps = sum(1 for _ in delete_batches(Asset, own, func.length(Asset.name)))
    assert steps == ASSETS


def test_a_run_that_has_no_time_left_or_a_worker_that_ends_is_continued(
    large: LargeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    large.delete()
    shutdown.requested.set()
    try:
        assert large.run_job() == 0
    finally:
        shutdown.requested.clear()
    assert large.rows()["assets"] == ASSETS - 2
    with monkeypatch.context() as patch:
        patch.setattr(runs, "RUN_SECONDS", -1.0)
        large.run_job()
    assert large.rows()["assets"] == ASSETS - 4
    assert large.run_job() > 0
    assert not any(large.rows().values())


WORKER: Final = """
from app.db import batched_deletion
from app.factory import create_app
from app.jobs import pauses
from app.projects.jobs import delete_projects
from config import load_settings
batched_deletion.BATCH_ROWS, pauses.FACTOR = 1, 1e9
with create_app(load_settings()).app_context():
    delete_projects()
"""


@pytest.mark.slow
@pytest.mark.both
def test_a_kill_between_batches_loses_nothing(large: LargeProject) -> None:
    settings = large.client.app.config["SETTINGS"]
    environ = {
        "INSTANCE_PATH": str(settings.instance_path),
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": str(settings.redis_url),
        "LOG_LEVEL": "error",
        "PATH": os.environ["PATH"],
        **CHEAP_PASSWORDS,
    }
    faults = _index_faults(large.client.app)  # of other tests
    large.delete()
    with subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT, env=environ) as process:
        while (left := large.rows()["assets"]) == ASSETS and process.poll() is None:
            time.sleep(0.01)
        process.kill()
    assert 0 < left < ASSETS
    assert large.client.get(f"/v1/projects/{large.gone}").status_code == 404
    assert large.client.get("/v1/assets").json["meta"]["total"] == ASSETS
    assert large.wrong_counters() == []
    assert large.run_job() > 0
    assert not any(large.rows().values())
    assert _index_faults(large.client.app) == faults


def test_one_that_cannot_be_deleted_keeps_no_other(
    large: LargeProject, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = LargeProject(stranger)
    large.delete()
    other.delete()
    real = jobs.delete_in_steps

    def failing(account_id: str, project_id: str) -> Iterator[None]:
        if project_id == large.gone:
            raise ValueError("corrupt")
        return real(account_id, project_id)

    monkeypatch.setattr(jobs, "delete_in_steps", failing)
    large.run_job()
    assert large.rows()["assets"] == ASSETS
    assert not any(other.rows().values())


@pytest.mark.both
def test_few_rows_are_deleted_with_the_change(client: Client) -> None:
    project = make_project(client, geometry=square())
    make_asset(client, project["id"])
    client.post(f"/v1/projects/{project['id']}/archive")
    client.delete(f"/v1/projects/{project['id']}")
    with client.app.app_context():
        own = select(func.count()).where(Project.id == project["id"])
        assert db.session.scalar(own) == 0


@pytest.mark.slow
@pytest.mark.both
@pytest.mark.parametrize(
    ("method", "form", "body"),
    [
        ("POST", "/v1/projects/{gone}/assets", {"name": "Late", "type": "sensor"}),
        ("PUT", "/v1/projects/{gone}/assets/{asset}", {"name": "Late"}),
        ("DELETE", "/v1/projects/{gone}/assets/{asset}", None),
        ("PUT", "/ogc/collections/assets/items/{asset}", FEATURE),
    ],
)
def test_an_asset_that_waits_for_the_deletion_is_gone(
    client: Client, method: str, form: str, body: Any
) -> None:
    """The deletion has counted the bytes of the assets. On PostgreSQL a statement that waited sees
    other tables as they were before."""
    if client.app.config["SETTINGS"].uses_sqlite:
        pytest.skip("changes wait before their first statement")
    large = LargeProject(client)
    path = large.path(form)
    with client.app.app_context(), ThreadPoolExecutor(1) as pool, transaction():
        project = db.session.scalars(
            select(Project).where(Project.id == large.gone).with_for_update()
        ).one()
        waiting = pool.submit(client.send, method, path, json=body)
        until_it_waits(waiting)
        deletion.delete_project_rows(project, deletion.contents_of(project))
        db.session.commit()
        assert waiting.result().status_code == 404


def test_its_account_is_deleted_meanwhile(large: LargeProject) -> None:
    app, account_id = large.client.app, large.client.account_id
    large.delete()
    make_due(app, account_id)
    assert run_job(app) > 0
    assert not any(large.rows().values())
    assert rows_of_account(app, account_id).keys() <= {"audit_entries"}


def test_the_export_of_the_account_has_nothing_of_it(large: LargeProject) -> None:
    large.delete()
    archive = archive_of(large.client)
    for name in ("projects.geojson", "assets.geojson"):
        assert large.kept in archive.text(name)
        assert large.gone not in archive.text(name)
    assert all(large.gone not in archive.text(name) for name in archive.names if "bound" in name)
