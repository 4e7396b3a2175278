"""Restoring: everything or nothing, while the service goes on."""

from __future__ import annotations

import dataclasses
import threading
import time
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import text

from app.db.column_types import metadata
from app.db.extensions import db
from app.db.snapshots import DATABASE_ERRORS, exclusive_writer, open_snapshot
from app.db.transactions import transaction
from app.maintenance import MaintenanceError
from app.maintenance import restore as restoring
from app.maintenance.backup_file import BackupReader
from app.maintenance.dump import TableChecksum
from app.maintenance.restore import check_backup, restore_backup
from app.maintenance.sqlite_indexes import count_faults, text_faults
from tests.conftest import DATABASES
from tests.maintenance.conftest import MakeInstance
from tests.maintenance.contents import add_projects, checksums, fill, url_of
from tests.maintenance.damage import DAMAGES, Members, change_manifest, rewritten, table_of
from tests.maintenance.test_backup import back_up_to, restore_from
from tests.make import make_account, make_project, second_app, square
from tests.projects.large_project import ASSETS, LargeProject, make_batches_small


@pytest.mark.slow
def test_a_damaged_file_is_refused_before_anything_is_touched(
    make_instance: MakeInstance, folder: Path, subtests: pytest.Subtests
) -> None:
    app = make_instance("sqlite")
    fill(app)
    path = folder / "b.zip"
    back_up_to(app, path)
    whole, before = path.read_bytes(), checksums(app)
    for damage, (harm, words) in DAMAGES.items():
        with subtests.test(damage):
            path.write_bytes(whole)
            harm(path)
            with pytest.raises(MaintenanceError) as refusal:
                restore_from(path, app)
            assert words in str(refusal.value)
            assert "\n" not in str(refusal.value)
    assert checksums(app) == before


def _dangle(members: Members) -> None:
    """Take the accounts out, with the right numbers in the manifest."""
    members["tables/accounts.jsonl"] = b""

    def tell(manifest: dict) -> None:
        table_of(manifest, "accounts").update(rows=0, sha256=TableChecksum().sha256)

    change_manifest(members, tell)


@pytest.mark.slow
def test_rows_that_do_not_fit_together_change_nothing(instance: Flask, folder: Path) -> None:
    fill(instance)
    back_up_to(instance, folder / "b.zip")
    before = checksums(instance)
    rewritten(folder / "b.zip", _dangle)
    with pytest.raises((MaintenanceError, *DATABASE_ERRORS)):
        restore_from(folder / "b.zip", instance)
    assert checksums(instance) == before


@pytest.mark.slow
def test_a_file_that_changes_after_it_was_checked_changes_nothing(
    sqlite: Flask, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(sqlite)
    back_up_to(sqlite, folder / "b.zip")
    before = checksums(sqlite)
    rewritten(folder / "b.zip", _rename)
    with (
        BackupReader(folder / "b.zip") as backup,
        pytest.raises(MaintenanceError, match="changed during the restore"),
    ):
        restore_backup(backup, url_of(sqlite))
    assert checksums(sqlite) == before


def _rename(members: Members) -> None:
    members["tables/users.jsonl"] = members["tables/users.jsonl"].replace(b"owner", b"other")


@pytest.mark.slow
def test_what_was_restored_is_found_and_goes_on(
    sqlite: Flask, make_instance: MakeInstance, folder: Path
) -> None:
    client = fill(sqlite)
    back_up_to(sqlite, folder / "b.zip")
    for kind in DATABASES:
        other = make_instance(kind)
        fill(other)
        restore_from(folder / "b.zip", other)
        there = type(client)(other, client.account_id, client.owner_id, client.token)
        found = there.get("/v1/projects?search=%F0%9F%8C%B2").json
        assert [project["name"][:4] for project in found["data"]] == ["Żółw"]
        found = there.get("/v1/projects?bbox=179.91,51,179.95,52").json
        assert [project["name"] for project in found["data"]] == ["In parts"]
        repeat = there.post(
            "/v1/projects", json={"name": "Once"}, headers={"Idempotency-Key": "B a~"}
        )
        assert repeat.headers["Idempotency-Replayed"] == "true"
        for _ in range(3):  # their row numbers are free
            make_project(there, geometry=square())
        with exclusive_writer(url_of(other), ["projects"]) as connection:
            if kind == "sqlite":
                assert count_faults(connection) + text_faults(connection) == []


@pytest.mark.slow
def test_indexes_that_were_out_of_step_are_right_afterwards(
    make_instance: MakeInstance, folder: Path
) -> None:
    app = make_instance("sqlite")
    fill(app)
    back_up_to(app, folder / "b.zip")
    with app.app_context(), transaction():
        for statement in (
            "INSERT INTO projects_text(projects_text) VALUES ('delete-all')",
            "DELETE FROM projects_box",
            'INSERT INTO projects_box("row", west, east, south, north) VALUES (1, 0, 1, 0, 1)',
        ):
            db.session.execute(text(statement))
    with open_snapshot(url_of(app)) as connection:
        assert count_faults(connection) != []
    restore_from(folder / "b.zip", app)
    with exclusive_writer(url_of(app), []) as connection:
        assert count_faults(connection) + text_faults(connection) == []


@pytest.mark.slow
def test_whoever_reads_meanwhile_sees_the_old_state_or_the_new_one(
    instance: Flask, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make_account(instance)
    add_projects(instance, client, 30)
    back_up_to(instance, folder / "b.zip")
    add_projects(instance, client, 30)
    seen: list[int] = []

    def look(_: int) -> None:
        seen.append(client.get("/v1/projects?search=bulk").json["meta"]["total"])

    with BackupReader(folder / "b.zip") as backup:
        restore_backup(backup, url_of(instance), look)
    assert set(seen) == {60}
    assert client.get("/v1/projects?search=bulk").json["meta"]["total"] == 30


@pytest.mark.provokes(503)
@pytest.mark.slow
def test_whoever_writes_meanwhile_waits_or_gets_503(instance: Flask, folder: Path) -> None:
    client = make_account(instance)
    make_project(client)
    back_up_to(instance, folder / "b.zip")
    answers: list[int] = []
    writer = threading.Thread(
        target=lambda: answers.append(
            client.post("/v1/projects", json={"name": "Meanwhile"}).status_code
        )
    )

    def write(_: int) -> None:
        if not writer.ident:
            writer.start()
            time.sleep(0.3)
            assert answers == []

    with BackupReader(folder / "b.zip") as backup:
        restore_backup(backup, url_of(instance), write)
    writer.join()
    assert answers in ([201], [503])
    assert client.get("/v1/projects").json["meta"]["total"] == 1 + (answers == [201])


@pytest.mark.slow
def test_a_restore_waits_for_a_writer_who_goes_the_other_way_round(
    make_instance: MakeInstance, folder: Path
) -> None:
    app = make_instance("postgresql")
    client = make_account(app)
    make_project(client)
    back_up_to(app, folder / "b.zip")
    before = checksums(app)
    first, second = sorted(metadata.tables)[-1], sorted(metadata.tables)[0]
    at_first = threading.Event()

    def write() -> None:
        with app.app_context(), db.engine.begin() as connection:
            connection.execute(text(f"LOCK TABLE {first} IN ROW EXCLUSIVE MODE"))
            at_first.set()
            time.sleep(0.2)
            connection.execute(text("SET LOCAL deadlock_timeout = '10s'"))
            connection.execute(text(f"LOCK TABLE {second} IN ROW EXCLUSIVE MODE"))

    writer = threading.Thread(target=write)
    writer.start()
    at_first.wait()
    with exclusive_writer(url_of(app), [second, first]) as connection:
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    writer.join()
    restore_from(folder / "b.zip", app)
    assert checksums(app) == before


@pytest.mark.slow
def test_a_reader_is_not_held_up_by_the_note_of_its_credential(
    make_instance: MakeInstance, folder: Path
) -> None:
    """The first request of a credential in a minute writes when it was used."""
    app = make_instance("postgresql")
    client = make_account(app)
    back_up_to(app, folder / "b.zip")
    took: list[float] = []

    def look(_: int) -> None:
        begun = time.monotonic()
        assert client.get("/v1/account").status_code == 200
        took.append(time.monotonic() - begun)

    # In the same thread: a lock that the note waited for would be given back only in vain.
    with (
        second_app(app, database_timeout_ms=60_000) as made,
        BackupReader(folder / "b.zip") as backup,
    ):
        client = dataclasses.replace(client, app=made)
        restore_backup(backup, url_of(app), look)
    assert max(took) < 30


@pytest.mark.slow
def test_the_check_counts_its_progress(sqlite: Flask, folder: Path) -> None:
    fill(sqlite)
    made = back_up_to(sqlite, folder / "b.zip")
    done: list[int] = []
    with BackupReader(folder / "b.zip") as backup:
        check_backup(backup, done.append)
    assert sum(done) == sum(made.manifest.rows().values())
    assert restoring.read_present(url_of(sqlite)).rows == made.manifest.rows()


def test_a_project_that_was_being_deleted_is_deleted_further(
    make_instance: MakeInstance,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_batches_small(monkeypatch)
    app, restored = make_instance("sqlite"), make_instance("sqlite")
    large = LargeProject(make_account(app))
    large.delete()
    back_up_to(app, folder / "b.zip")
    restore_from(folder / "b.zip", restored)
    again = large.on(restored)
    assert again.rows() == large.rows()
    assert again.client.get(f"/v1/projects/{large.gone}").status_code == 404
    assert again.client.get("/v1/assets").json["meta"]["total"] == ASSETS
    assert again.wrong_counters() == []
    assert again.run_job() == 1
    assert not any(again.rows().values())
