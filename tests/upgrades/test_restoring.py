"""A backup of a former version is restored by today's, and today's tables are no hindrance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask_migrate import upgrade as run_upgrade
from sqlalchemy import inspect, text

from app.db.column_types import metadata
from app.db.connections import close_all
from app.db.migrations import apply_revisions, upgrade
from app.db.revisions import newest_revision, of_another_version
from app.db.snapshots import connect, database_url, exclusive_writer, snapshot
from app.factory import create_app
from app.maintenance.archive import BackupReader
from app.maintenance.backup import back_up
from app.maintenance.dump import checksum_of
from app.maintenance.indexes import count_faults, text_faults
from app.maintenance.restore import check, present, restore
from app.maintenance.rows import table_codecs
from app.maintenance.schema import codecs_at
from config import load_settings
from tests.db.later_version import folder_with_revisions
from tests.make import make_account, make_project
from tests.templates import DATABASES
from tests.upgrades import fixtures
from tests.upgrades.former import SECRET_KEY

COMMITS = fixtures.commits()
MakeApp = Callable[..., Flask]


@pytest.fixture
def make_app(request: pytest.FixtureRequest, tmp_path: Path, valkey_url: str) -> Iterator[MakeApp]:
    """Makes an application on a database of its own, without tables or with those of a former
    version, and its rows."""
    made = []

    def make(database: str, commit: str | None = None) -> Flask:
        folder = tmp_path / f"instance{len(made)}"
        folder.mkdir()
        environ = {"INSTANCE_PATH": str(folder), "REDIS_URL": f"{valkey_url}?db=4"}
        environ |= {"SECRET_KEY": SECRET_KEY, "LOG_LEVEL": "error"}
        content = fixtures.read_database(commit, database) if commit else b""
        if database == "postgresql":
            server = request.getfixturevalue("postgres")
            environ["DATABASE_URL"] = server.create_database(has_tables=False)
            if content:
                fixtures.restore_postgresql(environ["DATABASE_URL"], content)
        elif content:
            (folder / "canopy.sqlite3").write_bytes(content)
        made.append(create_app(load_settings(environ)))
        return made[-1]

    yield make
    for app in made:
        with app.app_context():
            close_all()


def everything(app: Flask) -> dict[str, tuple[int, str]]:
    """Rows and checksum of each table."""
    with snapshot(database_url(app.config["SETTINGS"])) as connection:
        sums = {codec.name: checksum_of(connection, codec) for codec in table_codecs()}
    return {name: (each.rows, each.sha256) for name, each in sums.items()}


def back_up_from(app: Flask, path: Path) -> None:
    url = database_url(app.config["SETTINGS"])
    back_up(url, path, secret_key=SECRET_KEY, service_version="0.1.0", commit=None)


def restore_into(app: Flask, path: Path) -> None:
    with BackupReader(path) as backup, app.app_context():
        check(backup)
        restore(backup, database_url(app.config["SETTINGS"]))


@pytest.mark.slow
@pytest.mark.parametrize("target", DATABASES)
@pytest.mark.parametrize("source", DATABASES)
@pytest.mark.parametrize("commit", COMMITS)
def test_a_backup_of_a_former_version_is_migrated(
    make_app: MakeApp, tmp_path: Path, commit: str, source: str, target: str
) -> None:
    """As if the database itself had been."""
    former, restored = make_app(source, commit), make_app(target)
    back_up_from(former, tmp_path / "b.zip")
    restore_into(restored, tmp_path / "b.zip")
    with former.app_context():
        upgrade()
    assert everything(restored) == everything(former)
    assert everything(restored)["projects"][0] > 1
    url = database_url(restored.config["SETTINGS"])
    with exclusive_writer(url, []) as connection:
        if target == "sqlite":
            assert count_faults(connection) + text_faults(connection) == []
    client = make_account(restored)
    make_project(client, name="Later")  # its row number is free


@pytest.mark.parametrize("target", DATABASES)
def test_tables_of_a_newer_version_are_replaced(
    make_app: MakeApp, tmp_path: Path, target: str
) -> None:
    """The way back from an upgrade: with the version before, which made the backup."""
    app = make_app(target)
    with app.app_context():
        upgrade()
        make_project(make_account(app))
        back_up_from(app, tmp_path / "b.zip")
        before = everything(app)
        run_upgrade(directory=folder_with_revisions(tmp_path, False))
    url = database_url(app.config["SETTINGS"])
    with connect(url) as connection:
        connection.execute(text("CREATE TABLE of_newer (note varchar(9))"))
    assert present(url).unknown == ["of_newer"]
    restore_into(app, tmp_path / "b.zip")
    with snapshot(url) as connection:
        found = {name for name in inspect(connection).get_table_names() if "_text" not in name}
    assert {name for name in found if "_box" not in name} == {*metadata.tables, "alembic_version"}
    assert everything(app) == before
    assert make_account(app).get("/readyz").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("target", DATABASES)
def test_tables_of_another_program_are_left_alone(
    make_app: MakeApp, tmp_path: Path, target: str
) -> None:
    """Where no newer version was, what this one does not know is not Canopy's."""
    former, app = make_app("sqlite", COMMITS[0]), make_app(target)
    back_up_from(former, tmp_path / "b.zip")
    url = database_url(app.config["SETTINGS"])
    with app.app_context(), connect(url) as connection:
        connection.execute(text("CREATE TABLE of_others (note varchar(9))"))
        apply_revisions(connection, "0007")
    restore_into(app, tmp_path / "b.zip")
    with snapshot(url) as connection:
        assert inspect(connection).has_table("of_others")


@pytest.mark.slow
@pytest.mark.parametrize("target", DATABASES)
def test_what_fails_in_the_middle_changes_nothing(
    make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """The last revision fails, when all rows were inserted into new tables."""
    former, app = make_app("sqlite", COMMITS[0]), make_app(target)
    back_up_from(former, tmp_path / "b.zip")
    with app.app_context():
        upgrade()
    make_project(make_account(app))
    before = everything(app)
    later = folder_with_revisions(tmp_path, False)
    (revision,) = Path(later).glob("versions/*_to_come.py")
    revision.write_text(revision.read_text() + "    raise RuntimeError('it fails')\n")
    for module in ("migrations", "revisions"):
        monkeypatch.setattr(f"app.db.{module}.FOLDER", later)
    with pytest.raises(Exception, match="it fails"):
        restore_into(app, tmp_path / "b.zip")
    monkeypatch.undo()
    assert everything(app) == before
    with snapshot(database_url(app.config["SETTINGS"])) as connection:
        assert "boundaries" in inspect(connection).get_table_names()


@pytest.mark.slow
def test_the_tables_of_each_revision_can_be_read(make_app: MakeApp) -> None:
    """Their columns have types that backups have a form for."""
    with make_app("sqlite").app_context():
        for number in range(1, int(newest_revision())):
            assert len(codecs_at(f"{number:04}")) > 10
        assert "bin/canopy restore" in of_another_version("9999")
