"""What an account can hold is in its archive, in an import, in a backup and in its deletion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import inspect

from app import models
from app.maintenance.table_codec import table_codecs
from tests.account.deletion.support import make_due, run_job
from tests.account.deletion.traces import tables_naming
from tests.cli.conftest import runner
from tests.exports.account_export.archives import Archive
from tests.exports.account_export.full_account import make_full_account
from tests.exports.account_export.tables import (
    CREDENTIALS,
    NEW_COLUMNS,
    REASONS,
    TABLES,
    rows,
)
from tests.make import Client, new_email


def test_each_table_is_decided_about() -> None:
    placed = {*TABLES, "Credential"}
    assert not placed & REASONS.keys()
    assert placed | REASONS.keys() == set(models.__all__)
    stored = {getattr(models, name).__tablename__ for name in models.__all__}
    assert {codec.name for codec in table_codecs()} == stored  # of a backup


def changed_columns(before: list[Any], after: list[Any]) -> set[str]:
    """The columns that differ between rows and their copies, which were made in the same order."""
    names = inspect(type(before[0])).columns.keys()
    pairs = zip(*(sorted(each, key=lambda row: row.id) for each in (before, after)), strict=True)
    return {n for one, other in pairs for n in names if getattr(one, n) != getattr(other, n)}


@pytest.mark.both
def test_each_row_is_exported_imported_and_deleted(
    app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, file = make_full_account(app, monkeypatch).client, tmp_path / "a.zip"
    run = runner(app)
    assert run("account", "export", client.account_id, "--output", str(file)).exit_code == 0
    ids = ("--ids", str(tmp_path / "ids.csv"))
    done = run("account", "import", str(file), "--owner-email", new_email(), *ids, "--json")
    record, archive = json.loads(done.stdout), Archive(file.read_bytes())
    new = Client(app, record["account_id"], "", record["api_key"])
    for name, (file_name, column, stays) in TABLES.items():
        values = {getattr(row, column) for row in rows(client, name)}
        text = archive.text(file_name)
        assert values, f"make one of {name} in {make_full_account.__module__}"
        assert [value for value in values if str(value) not in text] == [], name
        there = rows(new, name)
        if stays:
            assert not values & {getattr(row, column) for row in there}, name
        else:
            assert len(there) == len(values), name
        if name in NEW_COLUMNS:
            assert changed_columns(rows(client, name), there) == NEW_COLUMNS[name], name
    credentials = rows(client, "Credential")
    assert {each.kind for each in credentials} == CREDENTIALS.keys()
    for each in credentials:
        assert each.id in archive.text(CREDENTIALS[each.kind])

    make_due(app, client.account_id)
    run_job(app)
    assert tables_naming(app, client.account_id) == {"audit_entries"}
    assert [name for name in TABLES if rows(client, name)] == []
