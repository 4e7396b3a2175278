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
from app.db.migrations import upgrade, use_flask_migrate
from app.db.revisions import FIRST, newest_revision, of_another_version
from app.db.snapshots import exclusive_writer, open_snapshot, open_transaction
from app.factory import create_app
from app.maintenance import MaintenanceError
from app.maintenance.restore import read_present
from app.maintenance.schema import codecs_at
from app.maintenance.sqlite_indexes import count_faults, text_faults
from config import load_settings
from tests import templates
from tests.db.later_version import folder_with_revisions, install
from tests.maintenance.contents import checksums, url_of
from tests.maintenance.test_backup import back_up_to, restore_from
from tests.make import make_account, make_asset, make_project
from tests.templates import DATABASES, SQLITE
from tests.upgrades import fixtures
from tests.upgrades.former import SECRET_KEY

MakeApp = Callable[..., Flask]


@pytest.fixture
def make_app(request: pytest.FixtureRequest, tmp_path: Path, valkey_url: str) -> Iterator[MakeApp]:
    """Makes an application on a database of its own: without tables, filled with rows, or that of a
    former release."""
    made = []

    def make(database: str, *, filled: bool = False, release: str | None = None) -> Flask:
        folder = tmp_path / f"instance{len(made)}"
        folder.mkdir()
        environ = {"INSTANCE_PATH": str(folder), "REDIS_URL": f"{valkey_url}?db=4"}
        environ |= {"SECRET_KEY": SECRET_KEY, "LOG_LEVEL": "error"}
        if database == "postgresql":
            server = request.getfixturevalue("postgres")
            environ["DATABASE_URL"] = server.create_database(has_tables=filled)
        if release is not None:
            content = fixtures.read_database(release, database)
            if database == "postgresql":
                fixtures.restore_postgresql(environ["DATABASE_URL"], content)
            else:
                (folder / SQLITE).write_bytes(content)
        elif filled and database == "sqlite":
            templates.copy_sqlite(folder)
        app = create_app(load_settings(environ))
        made.append(app)
        if filled:
            client = make_account(app)
            make_asset(client, make_project(client)["id"])
            make_project(client)
        return app

    yield make
    for app in made:
        with app.app_context():
            close_all()


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), [DATABASES, DATABASES[::-1]])
@pytest.mark.parametrize("release", fixtures.releases())
def test_a_backup_of_a_former_version_is_migrated(
    make_app: MakeApp,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    release: str,
    source: str,
    target: str,
) -> None:
    """As if the database itself had been."""
    former, restored = make_app(source, release=release), make_app(target)
    back_up_to(former, tmp_path / "b.zip")
    install(monkeypatch, folder_with_revisions(tmp_path, True))
    restore_from(tmp_path / "b.zip", restored)
    with former.app_context():
        upgrade()
    assert checksums(restored) == checksums(former)
    assert checksums(restored)["projects"][0] > 1
    url = url_of(restored)
    with exclusive_writer(url, []) as connection:
        if target == "sqlite":
            assert count_faults(connection) + text_faults(connection) == []
    client = make_account(restored)
    make_project(client, name="Later")  # its row number is free


@pytest.mark.slow
@pytest.mark.parametrize("target", DATABASES)
def test_tables_of_a_newer_version_are_replaced(
    make_app: MakeApp, tmp_path: Path, target: str
) -> None:
    """The way back from an upgrade: with the version before, which made the backup."""
    app = make_app(target, filled=True)
    back_up_to(app, tmp_path / "b.zip")
    before = checksums(app)
    use_flask_migrate(app)
    with app.app_context():
        run_upgrade(directory=folder_with_revisions(tmp_path, False))
    url = url_of(app)
    with open_transaction(url) as connection:
        connection.execute(text("CREATE TABLE of_newer (note varchar(9))"))
    assert read_present(url).unknown == ["of_newer"]
    restore_from(tmp_path / "b.zip", app)
    with open_snapshot(url) as connection:
        found = {name for name in inspect(connection).get_table_names() if "_text" not in name}
    assert {name for name in found if "_box" not in name} == {*metadata.tables, "alembic_version"}
    assert checksums(app) == before
    assert make_account(app).get("/readyz").status_code == 200


@pytest.mark.slow
def test_tables_of_another_program_are_left_alone(
    make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no newer version was, what this one does not know is not Canopy's."""
    app = make_app("sqlite", filled=True)
    back_up_to(app, tmp_path / "b.zip")
    url = url_of(app)
    with open_transaction(url) as connection:
        connection.execute(text("CREATE TABLE of_others (note varchar(9))"))
    install(monkeypatch, folder_with_revisions(tmp_path, False))
    restore_from(tmp_path / "b.zip", app)
    with open_snapshot(url) as connection:
        assert inspect(connection).has_table("of_others")


def test_tables_of_before_1_0_are_not_replaced(make_app: MakeApp) -> None:
    app = make_app("sqlite", filled=True)
    with open_transaction(url := url_of(app)) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0036'"))
    with pytest.raises(MaintenanceError, match="export its projects with that version"):
        read_present(url)


@pytest.mark.slow
@pytest.mark.parametrize("target", DATABASES)
def test_what_fails_in_the_middle_changes_nothing(
    make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """The last revision fails, when all rows were inserted into new tables."""
    app = make_app(target, filled=True)
    back_up_to(app, tmp_path / "b.zip")
    before = checksums(app)
    later = folder_with_revisions(tmp_path, False)
    (revision,) = Path(later).glob("versions/*_to_come.py")
    revision.write_text(revision.read_text() + "    raise RuntimeError('it fails')\n")
    install(monkeypatch, later)
    with pytest.raises(Exception, match="it fails"):
        restore_from(tmp_path / "b.zip", app)
    monkeypatch.undo()
    assert checksums(app) == before
    with open_snapshot(url_of(app)) as connection:
        assert "boundaries" in inspect(connection).get_table_names()


@pytest.mark.slow
def test_the_tables_of_each_revision_can_be_read(
    make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their columns have types that backups have a form for."""
    install(monkeypatch, folder_with_revisions(tmp_path, False))
    with make_app("sqlite").app_context():
        for number in range(int(FIRST), int(newest_revision())):
            assert len(codecs_at(f"{number:04}")) > 10
        assert "bin/canopy restore" in of_another_version("9999")
