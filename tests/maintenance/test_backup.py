"""Backups: complete, of one moment, portable, and never half a file."""

from __future__ import annotations

import stat
import threading
import zipfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from flask import Flask
from sqlalchemy import text

from app.db.extensions import db
from app.db.snapshots import open_snapshot
from app.db.transactions import transaction
from app.doctor.counters import wrong_counters
from app.maintenance import MaintenanceError
from app.maintenance.backup import Backup, back_up
from app.maintenance.backup_file import BackupReader
from app.maintenance.restore import check_backup, restore_backup
from app.security.sealing import key_check
from app.values.version import VERSION, read_commit
from tests.conftest import DATABASES
from tests.maintenance.conftest import MakeInstance
from tests.maintenance.contents import checksums, fill, url_of
from tests.maintenance.damage import change_manifest, rewritten
from tests.make import make_account, make_project


def back_up_to(app: Flask, path: Path, **options: Any) -> Backup:
    return back_up(url_of(app), path, **{"secret_key": "k" * 40} | options)


def restore_from(path: Path, app: Flask) -> None:
    with BackupReader(path) as backup, app.app_context():
        check_backup(backup)
        restore_backup(backup, url_of(app))


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.slow
def test_a_backup_restores_every_row_into_either_database(
    instance: Flask, make_instance: MakeInstance, folder: Path, kind: str
) -> None:
    fill(instance)
    before = checksums(instance)
    back_up_to(instance, folder / "b.zip")
    other = make_instance(kind)
    fill(other)
    restore_from(folder / "b.zip", other)
    assert checksums(other) == before
    names = ("projects", "boundaries", "assets", "idempotent_answers")
    assert min(before[name][0] for name in names) > 1


@pytest.mark.slow
def test_nulls_of_sql_and_of_json_stay_apart(make_instance: MakeInstance, folder: Path) -> None:
    app = make_instance("sqlite")
    make_account(app)
    client = make_account(app)
    statement = "UPDATE credentials SET ip_allowlist = NULL WHERE id = :id"
    with app.app_context(), transaction():
        db.session.execute(text(statement), {"id": client.credential_id})
        db.session.execute(
            text("UPDATE credentials SET ip_allowlist = 'null' WHERE id <> :id"),
            {"id": client.credential_id},
        )
    back_up_to(app, folder / "b.zip")
    for kind in DATABASES:
        other = make_instance(kind)
        restore_from(folder / "b.zip", other)
        with other.app_context():
            found = db.session.execute(
                text("SELECT count(*) FROM credentials WHERE ip_allowlist IS NULL")
            )
            assert found.scalar_one() == 1


@pytest.mark.slow
def test_a_backup_taken_while_projects_are_written_is_of_one_moment(
    instance: Flask, make_instance: MakeInstance, folder: Path
) -> None:
    client = make_account(instance)
    make_project(client)
    stop, failures = threading.Event(), []

    def write() -> None:
        while not stop.is_set():
            try:
                make_project(client)
            except AssertionError as error:
                failures.append(error)
                return

    writer = threading.Thread(target=write)
    writer.start()
    numbers = []
    try:
        for n in range(3):
            made = back_up_to(instance, folder / f"{n}.zip")
            numbers.append(made.manifest.rows()["projects"])
    finally:
        stop.set()
        writer.join()
    assert failures == []
    assert numbers == sorted(numbers)
    assert numbers[-1] > numbers[0], "nothing was written meanwhile"
    other = make_instance("sqlite")
    for n in range(3):
        restore_from(folder / f"{n}.zip", other)
        with open_snapshot(url_of(other)) as connection:
            assert list(wrong_counters(connection)) == []
            events = "SELECT subject_id FROM events WHERE type = 'project.created' ORDER BY 1"
            projects = "SELECT id FROM projects ORDER BY 1"
            told = connection.execute(text(events)).scalars().all()
            assert told == connection.execute(text(projects)).scalars().all()
            assert len(told) == numbers[n]


def test_the_manifest_says_what_the_file_holds(sqlite: Flask, folder: Path) -> None:
    fill(sqlite)
    made = back_up_to(sqlite, folder / "b.zip")
    with zipfile.ZipFile(folder / "b.zip") as file:
        assert file.testzip() is None
        manifest = orjson.loads(file.read("manifest.json"))
        lines = file.read("tables/projects.jsonl").splitlines()
    projects = next(table for table in manifest["tables"] if table["name"] == "projects")
    assert projects["rows"] == len(lines) == 5
    assert projects["columns"][:2] == ["row", "id"]
    assert (manifest["format"], manifest["service_version"]) == (1, VERSION)
    assert manifest["commit"] == read_commit()
    assert manifest["database"] == url_of(sqlite).get_backend_name()
    assert made.size == (folder / "b.zip").stat().st_size
    assert stat.S_IMODE((folder / "b.zip").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["b.zip"]


@pytest.mark.slow
def test_a_backup_with_more_than_is_known_is_read(
    make_instance: MakeInstance, folder: Path
) -> None:
    back_up_to(make_instance("sqlite"), folder / "b.zip")
    rewritten(folder / "b.zip", lambda members: change_manifest(members, _add_field))
    with BackupReader(folder / "b.zip") as backup:
        check_backup(backup)


def _add_field(manifest: dict[str, Any]) -> None:
    manifest["of_a_later_version"] = "value"


def test_no_secret_key_is_in_the_file(sqlite: Flask, folder: Path) -> None:
    made = back_up_to(sqlite, folder / "b.zip", secret_key="a secret key of the sqlite " * 2)
    assert made.manifest.secret_key_check == key_check("a secret key of the sqlite " * 2)
    assert made.manifest.secret_key_check != key_check("another")
    assert len(made.manifest.secret_key_check) == 5


def test_an_existing_file_is_kept(sqlite: Flask, folder: Path) -> None:
    (folder / "b.zip").write_text("precious")
    begun: list[int] = []
    with pytest.raises(MaintenanceError, match="use --force"):
        back_up_to(sqlite, folder / "b.zip", started=begun.append)
    assert (folder / "b.zip").read_text() == "precious"
    assert begun == []


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), OSError(28, "No space left on device")])
@pytest.mark.slow
def test_a_backup_that_is_stopped_leaves_what_was_there(
    sqlite: Flask, folder: Path, fault: BaseException
) -> None:
    fill(sqlite)
    (folder / "b.zip").write_text("the last one")

    def stop(_: int) -> None:
        raise fault

    with pytest.raises((MaintenanceError, KeyboardInterrupt)):
        back_up_to(sqlite, folder / "b.zip", overwrite=True, progress=stop)
    assert [path.name for path in folder.iterdir()] == ["b.zip"]
    assert (folder / "b.zip").read_text() == "the last one"


def test_a_file_that_cannot_be_made_is_told(sqlite: Flask, folder: Path) -> None:
    with pytest.raises(MaintenanceError, match="No such file or directory"):
        back_up_to(sqlite, folder / "absent" / "b.zip")
    with pytest.raises(MaintenanceError, match="is a folder"):
        back_up_to(sqlite, folder, overwrite=True)


@pytest.mark.slow
def test_a_database_without_tables_is_told(make_instance: MakeInstance, folder: Path) -> None:
    empty = make_instance("postgresql", tables=False)
    with pytest.raises(MaintenanceError, match="no tables yet"):
        back_up_to(empty, folder / "b.zip")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "revision", "refusal"),
    [
        ("postgresql", "9999", "schema 9999"),
        ("sqlite", "0036", "of a version of Canopy before 1.0"),
    ],
)
@pytest.mark.slow
def test_tables_of_an_unknown_version_can_be_backed_up_but_not_restored(
    make_instance: MakeInstance, folder: Path, kind: str, revision: str, refusal: str
) -> None:
    instance = make_instance(kind, lasting=False)
    fill(instance)
    before = checksums(instance)
    with instance.app_context(), transaction():
        db.session.execute(text("ALTER TABLE assets DROP COLUMN metadata"))
        db.session.execute(text("CREATE TABLE olden (id varchar(40) PRIMARY KEY, at float)"))
        db.session.execute(text("INSERT INTO olden VALUES ('a', 1.5)"))
        db.session.execute(text(f"UPDATE alembic_version SET version_num = '{revision}'"))
    made = back_up_to(instance, folder / "b.zip")
    rows, unchanged = made.manifest.rows(), {"events", "idempotent_answers"}
    assert rows == {name: number for name, (number, _) in before.items()} | {"olden": 1}
    for table in made.manifest.tables:
        if table.name in unchanged:
            assert table.sha256 == before[table.name][1], table.name
    with (
        BackupReader(folder / "b.zip") as backup,
        instance.app_context(),
        pytest.raises(MaintenanceError, match=refusal),
    ):
        check_backup(backup)
