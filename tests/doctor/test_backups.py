"""The daily backup, and what is said about backups."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from flask import Flask
from rq.timeouts import JobTimeoutException

from app.cli import canopy
from app.db.extensions import db
from app.db.queries import reading_connection
from app.doctor import jobs
from app.doctor.backups import check_backups
from app.doctor.findings import Finding, Status
from app.doctor.jobs import back_up_daily, is_backup_due
from app.maintenance.backup import keep_newest
from app.maintenance.backup_file import BackupReader
from app.models import User
from app.values import clock
from config import SettingsError, load_settings
from tests.maintenance.conftest import MakeInstance
from tests.make import mails_to, make_account, text_of
from tests.pages.operator.support import operator_browser


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "backups"
    path.mkdir()
    return path


def _check(app: Flask) -> Finding:
    with app.app_context(), reading_connection() as connection:
        (found,) = check_backups(connection, app.config["SETTINGS"])
    return found


def _later(monkeypatch: pytest.MonkeyPatch, **time: float) -> datetime:
    moment = clock.now() + timedelta(**time)
    monkeypatch.setattr(clock, "now", lambda: moment)
    return moment


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_a_backup_a_day_of_which_seven_are_kept(
    make_instance: MakeInstance, folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    app = make_instance(kind, BACKUP_DAILY=str(folder))
    make_account(app)
    others = [folder / "notes.txt", *(folder / f"canopy-2020010{n}T000000Z.zip" for n in range(9))]
    drafts = [folder / f".canopy-20200101T000000Z.zip.{n}.part" for n in range(2)]
    for path in (*others, *drafts):
        path.touch()
    os.utime(drafts[1], (0, 0))  # of a process that was killed
    with app.app_context():
        assert is_backup_due()
        assert back_up_daily()
        assert not is_backup_due()
        newest = sorted(folder.glob("canopy-*.zip"))[-1]
        with BackupReader(newest) as backup:
            assert backup.manifest.rows()["accounts"] == 1
        assert set(folder.iterdir()) == {others[0], *others[4:], newest, drafts[0]}
        assert _check(app).status is Status.OK
        _later(monkeypatch, days=1)
        assert is_backup_due()
        _later(monkeypatch, days=2)
        assert "Daily backups: the last is from" in _check(app).found


def test_a_backup_of_today_stays_beside_what_is_newer_or_cannot_be_deleted(
    make_instance: MakeInstance, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = make_instance("sqlite", BACKUP_DAILY=str(folder))
    old = [folder / f"canopy-2020010{n}T000000Z.zip" for n in range(8)]
    old[0].mkdir()
    for path in old[1:]:
        path.touch()
    future = [folder / f"canopy-2099010{n}T000000Z.zip" for n in range(7)]
    for path in future:
        path.touch()
    with app.app_context():
        assert back_up_daily()
        assert not is_backup_due()
    (new,) = set(folder.iterdir()) - {*old, *future}
    assert set(folder.iterdir()) == {old[0], *old[2:], new, *future}
    told = "The backup is written, but an old one is not deleted: "
    assert told in caplog.text
    assert _check(app).status is Status.OK
    command = ["backup", str(folder), "--keep", "1", "--force"]
    done = app.test_cli_runner().invoke(canopy, command, obj=app)
    assert (done.exit_code, told in done.stderr) == (1, True), done.output


def test_a_failure_is_told(
    make_instance: MakeInstance, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_instance("sqlite", BACKUP_DAILY=str(folder))
    client = make_account(app)
    operator = operator_browser(client)
    assert "never. Make one with bin/canopy backup FILE" in operator.get("/operator").text
    folder.rmdir()
    with app.app_context():
        assert not back_up_daily()
        assert not is_backup_due()
        _later(monkeypatch, hours=1)
        assert is_backup_due()
        assert not back_up_daily()
        address = db.session.get_one(User, client.owner_id).email
    found = _check(app)
    assert found.status is Status.PROBLEM
    assert f"{folder}" in found.found
    assert "the daily backup failed" in operator.get("/operator").text
    (mail,) = mails_to(app, address)
    assert str(folder) in text_of(mail)
    folder.mkdir()
    with app.app_context():
        assert back_up_daily()
    assert _check(app).status is Status.OK
    assert "the daily backup failed" not in operator.get("/operator").text


def test_a_failure_is_forgotten_once_nobody_tries_again(
    make_instance: MakeInstance, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_instance("sqlite", BACKUP_DAILY=str(folder))
    operator = operator_browser(make_account(app))
    folder.rmdir()
    with app.app_context():
        assert not back_up_daily()
    _later(monkeypatch, days=2.1)
    assert _check(app).found.startswith("Daily backups: none is known")
    assert "the daily backup failed" not in operator.get("/operator").text


def test_a_backup_that_takes_too_long_is_a_failure(
    make_instance: MakeInstance, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_instance("sqlite", BACKUP_DAILY=str(folder))
    make_account(app)

    def interrupt(*_: object, **__: object) -> None:  # as RQ does after the time of a job
        raise JobTimeoutException("Task exceeded maximum timeout value (21600 seconds)")

    monkeypatch.setattr(jobs, "back_up", interrupt)
    with app.app_context():
        assert not back_up_daily()
    assert "exceeded maximum timeout" in _check(app).found


def test_a_draft_that_is_completed_meanwhile_is_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = folder / ".canopy-20200101T000000Z.zip.1.part"
    monkeypatch.setattr(Path, "glob", lambda self, _: iter([draft]))  # gone since it was listed
    keep_newest(folder, 1)


def test_data_without_a_backup(
    make_instance: MakeInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_instance("sqlite")
    assert _check(app).found == "backups: none is known"
    make_account(app)
    assert _check(app).status is Status.OK
    _later(monkeypatch, days=7.1)
    found = _check(app)
    assert (found.status, "none is known" in found.found) == (Status.WARNING, True)
    assert "BACKUP_DAILY" in found.advice
    done = app.test_cli_runner().invoke(canopy, ["backup", str(tmp_path / "b.zip")], obj=app)
    assert done.exit_code == 0, done.output
    assert _check(app).status is Status.OK


def test_a_folder_in_the_instance_is_refused(tmp_path: Path) -> None:
    instance = tmp_path / "instance"
    (instance / "backups").mkdir(parents=True)
    (tmp_path / "link").symlink_to(instance / "backups")
    for folder in (instance, instance / "backups", tmp_path / "link"):
        with pytest.raises(SettingsError, match="BACKUP_DAILY must not be in INSTANCE_PATH"):
            load_settings({"INSTANCE_PATH": str(instance), "BACKUP_DAILY": str(folder)})
    found = load_settings({"INSTANCE_PATH": str(instance), "BACKUP_DAILY": str(tmp_path)})
    assert found.backup_daily == tmp_path
