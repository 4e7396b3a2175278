"""bin/canopy backup, restore, copy-database and doctor, as they are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import Result
from flask import Flask

from app.db.revisions import newest_revision
from app.db.snapshots import open_snapshot
from app.doctor.counters import wrong_counters
from app.maintenance.backup_file import BackupReader
from app.models import Project
from app.values.version import VERSION, describe_version, read_commit
from tests.cli.conftest import runner
from tests.db.later_version import folder_with_revisions, install
from tests.doctor.test_counters import spoil
from tests.doctor.test_doctor import change, environ_of
from tests.maintenance.conftest import MakeInstance, close
from tests.maintenance.contents import checksums, count, fill, url_of


def run(app: Flask, *arguments: Any, **options: Any) -> Result:
    return runner(app)(*map(str, arguments), **options)


def address(app: Flask) -> str:
    return url_of(app).render_as_string(hide_password=False)


def test_a_backup_says_what_it_holds_and_what_not(sqlite: Flask, folder: Path) -> None:
    fill(sqlite)
    done = run(sqlite, "backup", folder / "b.zip")
    assert done.exit_code == 0
    assert str(folder / "b.zip") in done.stdout
    assert "SECRET_KEY" in done.stdout
    assert "projects         5" in done.stdout
    assert f"Canopy {describe_version(VERSION, read_commit())} on " in done.stdout
    with BackupReader(folder / "b.zip") as backup:
        assert backup.manifest.commit == read_commit()
    done = run(sqlite, "backup", folder / "b.zip", "--force", "--json")
    document = orjson.loads(done.stdout)
    assert done.stderr == ""
    expected = {name: rows for name, (rows, _) in checksums(sqlite).items()}
    expected["audit_entries"] -= 1  # which tells of the backup
    assert document["rows"] == expected
    assert document["bytes"] == (folder / "b.zip").stat().st_size
    assert any("SECRET_KEY" in line for line in document["not_included"])


def test_a_backup_is_not_overwritten_unless_forced(sqlite: Flask, folder: Path) -> None:
    run(sqlite, "backup", folder / "b.zip")
    refused = run(sqlite, "backup", folder / "b.zip")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: ")
    assert "--force" in refused.stderr
    assert run(sqlite, "backup", folder / "b.zip", "--force").exit_code == 0


@pytest.mark.slow
def test_a_restore_asks_and_shows_what_it_replaces(sqlite: Flask, folder: Path) -> None:
    fill(sqlite)
    run(sqlite, "backup", folder / "b.zip")
    fill(sqlite)
    before = checksums(sqlite)
    refused = run(sqlite, "restore", folder / "b.zip", input="n\n")
    assert refused.exit_code == 1
    numbers = [line.split() for line in refused.stderr.splitlines()]
    assert ["accounts", "2", "1"] in numbers
    assert ["projects", "10", "5"] in numbers
    nobody = run(sqlite, "restore", folder / "b.zip", "--json")
    assert nobody.exit_code == 1
    assert "--yes" in nobody.stderr
    assert checksums(sqlite) == before
    done = run(sqlite, "restore", folder / "b.zip", "--yes", "--json")
    document = orjson.loads(done.stdout)
    assert done.stderr == ""
    assert (document["rows_before"]["projects"], document["rows"]["projects"]) == (10, 5)
    assert document["same_secret_key"] is True
    done = run(sqlite, "restore", folder / "b.zip", input="y\n")
    assert done.exit_code == 0
    assert done.stdout == "Restored: 5 projects of 1 accounts.\n"
    assert count(sqlite, Project) == 5


@pytest.mark.slow
def test_a_restore_into_a_new_place_makes_the_tables(
    make_instance: MakeInstance, folder: Path
) -> None:
    app, empty = make_instance("sqlite"), make_instance("sqlite", tables=False)
    fill(app)
    run(app, "backup", folder / "b.zip")
    done = run(empty, "restore", folder / "b.zip", "--yes", "--unverified")
    assert done.exit_code == 0, done.stderr
    assert "another SECRET_KEY" in done.stderr
    restored, expected = checksums(empty), checksums(app)
    # One has an entry that tells of the backup, the other of its being restored.
    assert restored.pop("audit_entries")[0] == expected.pop("audit_entries")[0]
    assert restored == expected


@pytest.mark.slow
def test_a_copy_shows_that_all_tables_are_equal(sqlite: Flask, make_instance: MakeInstance) -> None:
    fill(sqlite)
    target = make_instance("postgresql", tables=False)
    done = run(sqlite, "copy-database", "--to", address(target))
    assert done.exit_code == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["projects", "5", "5", "equal"] in lines
    assert "DIFFERENT" not in done.stdout
    assert checksums(target) == checksums(sqlite)


@pytest.mark.slow
def test_a_copy_in_json(make_instance: MakeInstance, folder: Path) -> None:
    source = make_instance("postgresql")
    fill(source)
    path = folder / "copy.sqlite3"
    done = run(source, "copy-database", "--to", f"sqlite:///{path}", "--json")
    document = orjson.loads(done.stdout)
    assert document["equal"] is True
    assert document["to"] == f"sqlite:///{path}"
    for table in document["tables"]:
        assert table["source"] == table["target"], table["table"]


def test_a_target_that_is_no_database_is_wrong_usage(sqlite: Flask) -> None:
    for target in ("mysql://x/y", "sqlite:///", "sqlite:///:memory:", ""):
        refused = run(sqlite, "copy-database", "--to", target)
        assert refused.exit_code == 2
        assert "--to" in refused.stderr


def test_a_target_that_cannot_be_reached_is_told(sqlite: Flask, folder: Path) -> None:
    for target in ("postgresql://canopy:s3cret@127.0.0.1:9/x", f"sqlite:///{folder}/no/x.sqlite3"):
        refused = run(sqlite, "copy-database", "--to", target)
        assert refused.exit_code == 1
        assert refused.stderr.count("\n") == 1
        assert "s3cret" not in refused.stderr


@pytest.fixture
def environ(sqlite: Flask, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The doctor reads the environment itself: it must work when there is no application."""
    values = environ_of(sqlite)
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return values


@pytest.mark.slow
@pytest.mark.usefixtures("environ")
def test_the_doctor_finds_and_corrects_a_fault(sqlite: Flask) -> None:
    client = fill(sqlite)
    spoil(client, area_m2=-1)
    faulty = run(sqlite, "doctor")
    assert faulty.exit_code == 1
    assert "Problems: 1." in faulty.stdout
    assert "bin/canopy doctor --repair" in faulty.stdout
    as_json = run(sqlite, "doctor", "--json")
    assert as_json.exit_code == 1
    assert orjson.loads(as_json.stdout)["ok"] is False
    repaired = run(sqlite, "doctor", "--repair", "--json")
    assert repaired.exit_code == 0
    document = orjson.loads(repaired.stdout)
    assert document["repaired"] == {"counters": [client.account_id]}
    assert document["refused"] == {}
    with open_snapshot(url_of(sqlite)) as connection:
        assert list(wrong_counters(connection)) == []
    sound = run(sqlite, "doctor", "--repair")
    assert sound.exit_code == 0, sound.stdout
    assert "Nothing to repair." in sound.stdout
    assert "Problems: none." in sound.stdout
    document = orjson.loads(run(sqlite, "doctor", "--json").stdout)
    assert document["ok"] is True
    assert all(
        (check["advice"] is None) is (check["status"] == "ok") for check in document["checks"]
    )


@pytest.mark.usefixtures("environ")
def test_the_doctor_with_wrong_settings(sqlite: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "eighty")
    found = run(sqlite, "doctor")
    assert found.exit_code == 1
    assert "PORT must be a whole number" in found.stdout


@pytest.mark.slow
def test_tables_of_other_revisions_are_told(make_instance: MakeInstance, folder: Path) -> None:
    app = make_instance("sqlite")
    run(app, "backup", folder / "b.zip")
    change(app, "CREATE TABLE of_newer (id integer)")
    change(app, "UPDATE alembic_version SET version_num = '9999', oldest_code = '9999'")
    refused = run(app, "copy-database", "--to", f"sqlite:///{folder}/copy.sqlite3")
    assert refused.exit_code == 1
    assert "9999" in refused.stderr
    refused = run(app, "migrate")
    assert refused.exit_code == 1
    assert "bin/canopy restore" in refused.stderr
    done = run(app, "restore", folder / "b.zip", "--yes")
    assert done.exit_code == 0, done.stderr
    assert "The present tables, of revision 9999, are dropped." in done.stderr
    assert "dropped, too: of_newer" in done.stderr
    assert run(app, "migrate").exit_code == 0
    close(app)


@pytest.mark.slow
def test_tables_of_an_earlier_revision_are_told(
    sqlite: Flask, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(sqlite, "backup", folder / "b.zip")
    own = newest_revision()
    install(monkeypatch, folder_with_revisions(folder, False))
    assert "Make a backup, then run: " in run(sqlite, "account", "list").stderr
    asked = run(sqlite, "restore", folder / "b.zip", input="n\n")
    migrated = f"Its tables are of revision {own}. They are migrated to {newest_revision()}."
    assert migrated in asked.stderr


def test_backups_in_a_folder_are_named_by_time_and_the_newest_are_kept(
    sqlite: Flask, tmp_path: Path
) -> None:
    others = [tmp_path / "canopy-notes.zip", tmp_path / "canopy-20200101T000000Z.zip.part"]
    old = [tmp_path / f"canopy-2020010{day}T000000Z.zip" for day in (1, 2, 3)]
    for path in (*others, *old):
        path.touch()
    done = run(sqlite, "backup", tmp_path, "--keep", 2)
    assert done.exit_code == 0, done.output
    kept = sorted(path for path in tmp_path.iterdir() if path not in others)
    assert kept[0] == old[2]
    assert len(kept) == 2
    assert kept[1].stat().st_size > 0
    assert all(path.exists() for path in others)
