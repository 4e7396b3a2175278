"""The doctor finds each fault that is planted, and goes on when most does not work."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import text

from app.db.extensions import db
from app.db.transactions import transaction
from app.doctor.doctor import OF_DATABASE, OF_HOST, OF_SETTINGS, OF_VALKEY, SKIPPED, run_checks
from app.doctor.findings import Finding, Status
from tests.maintenance.conftest import MakeInstance, close
from tests.maintenance.contents import fill, url_of
from tests.ports import free_port

pytestmark = pytest.mark.slow

ALL_NAMES = {*OF_HOST, *OF_SETTINGS, *OF_DATABASE, *OF_VALKEY}


def environ_of(app: Flask) -> dict[str, str]:
    """The environment with which the application has its settings."""
    settings = app.config["SETTINGS"]
    return {
        "INSTANCE_PATH": str(settings.instance_path),
        "PORT": str(free_port()),
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url or "",
        "SECRET_KEY": settings.secret_key,
    }


def findings_of(environ: Mapping[str, str]) -> dict[str, Finding]:
    """What each check finds; of several results the worst."""
    findings: dict[str, Finding] = {}
    skipped = 0
    for finding in run_checks(environ):
        if finding.check == SKIPPED:
            skipped += int(finding.found.split()[0])
            continue
        known = findings.get(finding.check)
        if known is None or not (known.advice and finding.status is not Status.PROBLEM):
            findings[finding.check] = finding
    assert len(findings) + skipped == len(ALL_NAMES)
    assert findings.keys() <= ALL_NAMES
    return findings


def problems(findings: Mapping[str, Finding]) -> set[str]:
    return {name for name, finding in findings.items() if finding.status is Status.PROBLEM}


def change(app: Flask, *statements: str) -> None:
    with app.app_context(), transaction():
        for statement in statements:
            db.session.execute(text(statement))
    close(app)


def test_a_sound_instance_has_no_problems(instance: Flask) -> None:
    fill(instance)
    findings = findings_of(environ_of(instance))
    assert problems(findings) == set()
    others = {name for name, found in findings.items() if found.status is not Status.OK}
    assert others <= {"worker", "valkey"}, findings  # which is slow while other tests run


PLANTED: dict[str, tuple[str, str, str]] = {
    "a counter too high": (
        "UPDATE account_usage SET projects_active = projects_active + 1",
        "counters",
        "projects_active 6 instead of 5",
    ),
    "another revision": (
        "UPDATE alembic_version SET version_num = '0000'",
        "schema",
        "revision 0000",
    ),
    "no revision": ("DELETE FROM alembic_version", "schema", "no tables"),
    "bounds that drifted": (
        "UPDATE projects SET west = west - 1 WHERE name = 'In parts'",
        "derived columns",
        "(bounds)",
    ),
    "an area without a boundary": (
        "UPDATE projects SET area_m2 = 1 WHERE name = 'Once'",
        "derived columns",
        "area_m2 or bounds",
    ),
    "a boundary that is none": (
        "UPDATE projects SET geometry = '{}' WHERE name = 'In parts'",
        "derived columns",
        "geometry)",
    ),
    "a name that was changed": (
        "UPDATE projects SET name = 'Other' WHERE name = 'Once'",
        "derived columns",
        "name_key, search_text",
    ),
    "a copy half way": ("CREATE TABLE canopy_copy (source varchar(9))", "schema", "not finished"),
}


ON_POSTGRESQL = ("a counter too high", "bounds that drifted", "another revision")


@pytest.mark.parametrize(
    ("kind", "fault"),
    [*(("sqlite", fault) for fault in PLANTED), *(("postgresql", f) for f in ON_POSTGRESQL)],
)
def test_a_planted_fault_is_found(make_instance: MakeInstance, kind: str, fault: str) -> None:
    statement, name, words = PLANTED[fault]
    app = make_instance(kind, lasting=name != "schema")
    fill(app)
    change(app, statement)
    found = findings_of(environ_of(app))
    assert name in problems(found)
    assert problems(found) <= {name, "counters"}
    assert words in found[name].found
    assert found[name].advice


PLANTED_IN_SQLITE: dict[str, tuple[str, str, str]] = {
    "a text not indexed": (
        "INSERT INTO projects_text(projects_text) VALUES ('delete-all')",
        "indexes",
        "projects_text has 0 rows instead of 5",
    ),
    "a box too many": (
        'INSERT INTO assets_box("row", west, east, south, north) VALUES (99, 0, 0, 0, 0)',
        "indexes",
        "assets_box has 2 rows instead of 1",
    ),
    "no write-ahead log": ("PRAGMA journal_mode=DELETE", "integrity", "journal_mode is delete"),
    "a dangling row": (
        "PRAGMA foreign_keys=OFF; UPDATE assets SET project_id = 'proj_gone'",
        "integrity",
        "assets row 1 (no projects)",
    ),
}


@pytest.mark.parametrize("fault", PLANTED_IN_SQLITE)
def test_a_fault_planted_in_the_file_is_found(make_instance: MakeInstance, fault: str) -> None:
    statement, name, words = PLANTED_IN_SQLITE[fault]
    app = make_instance("sqlite")
    fill(app)
    close(app)
    connection = sqlite3.connect(url_of(app).database or "")
    connection.executescript(statement)
    connection.close()
    found = findings_of(environ_of(app))
    assert problems(found) == {name}
    assert words in found[name].found


def test_a_damaged_file_of_sqlite_is_found(make_instance: MakeInstance) -> None:
    app = make_instance("sqlite")
    fill(app)
    close(app)
    path = Path(url_of(app).database or "")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        where = "SELECT rootpage FROM sqlite_schema WHERE name = 'ix_events_subject_id_id'"
        (page,) = connection.execute(where).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(os.urandom(4096))
    found = findings_of(environ_of(app))
    assert problems(found) == {"integrity"}
    assert "quick_check" in found["integrity"].found


def test_a_file_that_is_no_database_is_found(make_instance: MakeInstance) -> None:
    app = make_instance("sqlite")
    close(app)
    for path in app.config["SETTINGS"].instance_path.glob("canopy.sqlite3*"):
        path.write_text("This is no database. " * 500)
    found = findings_of(environ_of(app))
    assert problems(found) == {"database"}
    assert "not a database" in found["database"].found


def test_a_full_disk_is_told(make_instance: MakeInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_instance("sqlite")
    close(app)
    usage = type("Usage", (), {"free": 0})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    kept = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        found = findings_of(environ_of(app))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, kept)
    assert problems(found) == {"disk", "database"}
    assert found["database"].found.endswith("cannot be used (its disk is full)")
    assert found["database"].advice.startswith("Free some space")


def test_no_database_yet(make_instance: MakeInstance) -> None:
    app = make_instance("sqlite", tables=False)
    close(app)
    environ = environ_of(app) | {"DATABASE_URL": f"sqlite:///{app.instance_path}/other.sqlite3"}
    found = findings_of(environ)
    assert problems(found) == {"settings"}
    assert "no database at" in found["settings"].found
    assert "counters" not in found
    assert not Path(app.instance_path, "other.sqlite3").exists()


def test_a_database_that_is_down(make_instance: MakeInstance) -> None:
    app = make_instance("sqlite")
    environ = environ_of(app) | {"DATABASE_URL": "postgresql://canopy:s3cret@127.0.0.1:9/canopy"}
    found = findings_of(environ)
    assert problems(found) == {"database"}
    assert "refused" in found["database"].found
    assert "s3cret" not in str(found)
    assert found["valkey"].status is Status.OK


def test_redis_that_is_down(make_instance: MakeInstance) -> None:
    app = make_instance("sqlite")
    found = findings_of(environ_of(app) | {"REDIS_URL": "redis://127.0.0.1:9/0"})
    assert problems(found) == {"valkey"}
    assert "REDIS_URL does not respond" in found["valkey"].found


def test_an_embedded_store_that_does_not_run_is_not_started(make_instance: MakeInstance) -> None:
    app = make_instance("sqlite")
    found = findings_of(environ_of(app) | {"REDIS_URL": ""})
    assert problems(found) == set()
    assert found["valkey"].status is Status.WARNING
    assert not Path(app.instance_path, "valkey").exists()


def test_all_wrong_settings_are_told_at_once(make_instance: MakeInstance) -> None:
    app = make_instance("sqlite")
    environ = environ_of(app) | {"PORT": "many", "DATABASE_URL": "mysql://x", "WEB_WORKERS": "0"}
    told = [finding.found for finding in run_checks(environ) if finding.status is Status.PROBLEM]
    names = [sentence.partition(" ")[0] for sentence in told]
    assert names == ["PORT", "DATABASE_URL", "WEB_WORKERS"]
    assert problems(findings_of(environ)) == {"settings"}


def test_an_address_that_cannot_be_read(make_instance: MakeInstance) -> None:
    address = "redis://:s3cret@localhost/0?socket_timeout=abc"
    found = findings_of(environ_of(make_instance("sqlite")) | {"REDIS_URL": address})
    assert problems(found) == {"valkey"}
    assert found["valkey"].found.startswith("REDIS_URL")
    assert "s3cret" not in str(found)


def test_what_was_skipped_is_one_line(make_instance: MakeInstance) -> None:
    app = make_instance("sqlite")
    findings = list(run_checks(environ_of(app) | {"PORT": "many"}))
    assert [finding.check for finding in findings] == [*OF_HOST, "settings", SKIPPED]
    number = len(ALL_NAMES) - len(OF_HOST) - 1
    last = findings[-1]
    assert (last.found, last.advice) == (
        f"{number} checks were skipped: fix the settings first",
        "",
    )
    down = environ_of(app) | {"REDIS_URL": "redis://127.0.0.1:9/0"}
    lines = [finding.found for finding in run_checks(down) if finding.check == SKIPPED]
    number = len(OF_VALKEY) - 1
    assert lines == [f"{number} checks were skipped: fix the connection to Valkey first"]
