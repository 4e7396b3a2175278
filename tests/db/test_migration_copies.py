"""Before a SQLite file is migrated, a copy of it is kept; a migration tells what it does."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.db import migration_copies, migrations
from app.db.connections import close_all
from app.db.migrations import CannotMigrate, upgrade
from app.db.revisions import current_revision, newest_revision
from app.factory import create_app
from config import load_settings
from tests.db.later_version import folder_with_revisions, install
from tests.make import make_account, make_project

DATABASE = "canopy.sqlite3"


@pytest.fixture
def former(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The revision of a file that lacks two later ones, which are here now."""
    app = create_app(load_settings({"INSTANCE_PATH": str(tmp_path), "LOG_LEVEL": "error"}))
    with app.app_context():
        upgrade()
        revision = newest_revision()
        make_project(make_account(app))
        install(monkeypatch, folder_with_revisions(tmp_path / "later", True, True))
        yield revision
        close_all()


def copies(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob(f"{DATABASE}.*") if "revision" in path.name)


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        return list(database.iterdump())


def test_the_file_as_it_was_is_kept(tmp_path: Path, former: str) -> None:
    """Also what is only in its log yet."""
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("UPDATE projects SET description = 'the last change'")
        database.commit()
        before = list(database.iterdump())
        (tmp_path / f"{DATABASE}.revision-0003").touch()  # of a migration before
        said: list[str] = []
        upgrade(said.append)
    (copy,) = copies(tmp_path)
    assert copy == f"{DATABASE}.revision-{former}"
    assert dump(tmp_path / copy) == before
    assert (tmp_path / copy).stat().st_mode & 0o777 == 0o600
    first, second, *steps = said
    assert first == f"Migrating the database from revision {former} to {newest_revision()}."
    assert second == f"A copy of it as it was: {tmp_path / copy}"
    assert [line[:4] for line in steps] == [
        f"{number:04}" for number in range(int(former) + 1, int(newest_revision()) + 1)
    ]
    assert steps[1].startswith(f"{newest_revision()} A revision to come: ")
    assert steps[1].endswith(" s")


def test_without_space_nothing_is_done(
    tmp_path: Path, former: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage: Any = shutil.disk_usage(tmp_path)._replace(free=1_000_000)
    monkeypatch.setattr(migration_copies.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(CannotMigrate, match=r"1 MB are free in .*--without-copy"):
        upgrade()
    assert (current_revision(), copies(tmp_path)) == (former, [])
    upgrade(keeps_copy=False)
    assert (current_revision(), copies(tmp_path)) == (newest_revision(), [])


def test_an_empty_database_gets_its_tables_without_a_word(empty_app: Flask) -> None:
    said: list[str] = []
    with empty_app.app_context():
        upgrade(said.append)
        migrations.upgrade(said.append)  # nothing is left to do
    folder = empty_app.config["SETTINGS"].instance_path
    assert (said, copies(folder)) == ([], [])
