"""Features of imports that are canceled or cannot be read, and old imports, are deleted."""

from __future__ import annotations

import os
import shutil
import time
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import func, select, update

from app.db.extensions import db
from app.db.transactions import transaction
from app.imports import deletion, feature_rows, preview
from app.imports.features.reader_process import ReaderProcess, TooCostly
from app.imports.jobs import delete_imports
from app.models import Import, ImportFeature
from app.policy.imports import IMPORT_DAYS
from app.values import clock
from tests.imports.making import act, read, ready, upload, work
from tests.make import Client, square
from tests.make.features import collection, feature

FEATURES = [feature(square(n), name=f"P{n}") for n in range(5)]


def stored(client: Client) -> tuple[int, int]:
    """The number of imports and of features of the account."""
    with client.app.app_context():
        imports, features = (
            db.session.scalar(select(func.count()).where(model.account_id == client.account_id))
            for model in (Import, ImportFeature)
        )
        return imports or 0, features or 0


def delete(client: Client) -> None:
    with client.app.app_context():
        delete_imports()


@pytest.mark.both
def test_a_canceled_import_loses_its_features_some_in_each_transaction(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_rows, "DELETED_AT_ONCE", 2)
    record = ready(client, *FEATURES)
    kept = act(client, ready(client, *FEATURES), "apply")
    client.post(f"/v1/imports/{record['id']}/cancel")
    assert stored(client) == (2, 10)
    pauses: list[tuple[int, int]] = []
    monkeypatch.setattr(deletion, "pause_after", lambda began: pauses.append(stored(client)))
    delete(client)
    assert {(2, 8), (2, 6), (2, 5)} <= set(pauses)
    assert read(client, kept["id"])["status"] == "applied"


def test_an_old_import_is_deleted_after_its_features(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_rows, "DELETED_AT_ONCE", 2)
    record = act(client, ready(client, *FEATURES), "apply")
    with client.app.app_context(), transaction():
        old = clock.now() - timedelta(days=IMPORT_DAYS, minutes=1)
        db.session.execute(update(Import).where(Import.id == record["id"]).values(created_at=old))
    monkeypatch.setattr(deletion, "pause_after", lambda began: stored(client) != (1, 5))
    delete(client)
    assert stored(client) == (1, 3)
    undone = client.post(f"/v1/imports/{record['id']}/undo")
    assert undone.status_code == 409  # a part of it cannot be undone
    monkeypatch.undo()
    delete(client)
    assert stored(client) == (0, 0)


def test_the_files_of_killed_workers_are_deleted_after_an_hour(app: Flask, client: Client) -> None:
    """Whether or not another file comes."""
    folder = Path(app.instance_path) / "imports"
    for name in ("old", "new"):
        (folder / name).mkdir(parents=True)
        (folder / name / "forests.geojson").write_text("{}")
    moment = time.time() - 3_700
    os.utime(folder / "old", (moment, moment))
    work(client)
    assert [(folder / name).exists() for name in ("old", "new")] == [False, True]
    shutil.rmtree(folder)


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_was_read_of_a_file_that_fails_is_deleted(
    client: Client, is_killed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(process: ReaderProcess) -> list[str]:
        raise TooCostly("Too slow.")

    monkeypatch.setattr(ReaderProcess, "notes", fail)
    work(client)  # what others have left: beside that, the file would have a brief turn first
    if is_killed:  # its worker
        monkeypatch.setattr(preview, "delete_features", lambda *arguments: None)
    record = upload(client, collection(*FEATURES)).json["data"]
    work(client)
    assert read(client, record["id"])["status"] == "failed"
    assert stored(client) == (1, 5 if is_killed else 0)
    delete(client)
    assert stored(client) == (1, 0)
