"""Copying to another database: equal at the end, and begun anew when it was stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import text

from app.db.extensions import db
from app.db.snapshots import exclusive_file, open_snapshot, open_transaction
from app.db.transactions import transaction
from app.maintenance import MaintenanceError, copying
from app.maintenance.copying import TableComparison, copy_database
from app.maintenance.schema import is_half_copied, require_current
from app.models import Event, Project
from config import ROOT
from tests.captured import captured
from tests.maintenance.conftest import MakeInstance, close
from tests.maintenance.contents import add_projects, checksums, count, fill, url_of
from tests.maintenance.test_commands import address, run
from tests.make import make_account, make_project, square

pytestmark = pytest.mark.slow

# Runs in a process of its own, which ends at once when some rows are there, as if it were killed.
HALF_A_COPY = """
import os, sys
from sqlalchemy import make_url
from app.maintenance.copying import copy_database
source, target = map(make_url, sys.argv[1:])
done = []
def progress(rows):
    done.append(rows)
    if sum(done) > 600:
        os._exit(9)
copy_database(source, target, make_schema=lambda: None, progress=progress)
"""


def copy(source: Flask, target: Flask, **options: Any) -> list[TableComparison]:
    """Copy between the databases of two applications, whose tables are there."""
    close(target)
    return copy_database(
        url_of(source), url_of(target), make_schema=lambda: close(target), **options
    )


def test_there_and_back_again_nothing_has_changed(
    sqlite: Flask, make_instance: MakeInstance
) -> None:
    fill(sqlite)
    before = checksums(sqlite)
    other, back = make_instance("postgresql"), make_instance("sqlite")
    for source, target in ((sqlite, other), (other, back)):
        compared = copy(source, target)
        assert all(table.is_equal for table in compared)
        assert {table.table: table.target_rows for table in compared}["projects"] == 5
        assert checksums(target) == before


def test_the_service_goes_on_in_the_target(sqlite: Flask, make_instance: MakeInstance) -> None:
    client = fill(sqlite)
    target = make_instance("postgresql")
    copy(sqlite, target)
    there = type(client)(target, client.account_id, client.owner_id, client.token)
    for _ in range(3):
        make_project(there, geometry=square())
    assert there.get("/v1/projects").json["meta"]["total"] == 8


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.trial)])
def test_a_copy_that_was_killed_half_way_is_begun_anew(
    make_instance: MakeInstance, kind: str
) -> None:
    source, target = make_instance("sqlite"), make_instance(kind, lasting=False)
    client = fill(source)
    add_projects(source, client, 1200)
    close(target)
    addresses = [
        url.render_as_string(hide_password=False) for url in (url_of(source), url_of(target))
    ]
    process = captured([sys.executable, "-c", HALF_A_COPY, *addresses], cwd=ROOT)
    assert process.returncode == 9, process.stderr
    with open_snapshot(url_of(target)) as connection:
        assert is_half_copied(connection)
        with pytest.raises(MaintenanceError, match="not finished"):
            require_current(connection)
    assert 0 < count(target, Project) < 1205
    make_project(client, name="Since then")
    assert all(table.is_equal for table in copy(source, target))
    assert count(target, Project) == 1206
    with open_snapshot(url_of(target)) as connection:
        assert not is_half_copied(connection)


def test_a_target_with_data_is_refused_and_kept(make_instance: MakeInstance) -> None:
    source, target = make_instance("sqlite"), make_instance("sqlite")
    fill(source)
    fill(target)
    before = checksums(target)
    with pytest.raises(MaintenanceError, match="already contains data"):
        copy(source, target)
    assert checksums(target) == before


def test_a_target_with_tables_of_something_else_is_refused(make_instance: MakeInstance) -> None:
    source, target = make_instance("sqlite"), make_instance("sqlite", tables=False)
    with open_transaction(url_of(target)) as connection:
        connection.execute(text("CREATE TABLE invoices (id integer)"))
    with pytest.raises(MaintenanceError, match="another program \\(invoices\\)"):
        copy(source, target)
    with open_snapshot(url_of(target)) as connection:
        assert not is_half_copied(connection)


def test_a_database_is_not_copied_into_itself(sqlite: Flask) -> None:
    with pytest.raises(MaintenanceError, match="same database"):
        copy(sqlite, sqlite)


def _somebody_on_postgresql(target: Flask) -> Any:
    return exclusive_file(url_of(target))


def _somebody_on_sqlite(target: Flask) -> Any:
    return open_transaction(url_of(target))


@pytest.mark.parametrize(
    ("kind", "somebody"),
    [("sqlite", _somebody_on_sqlite), ("postgresql", _somebody_on_postgresql)],
)
def test_a_target_in_use_is_refused(
    make_instance: MakeInstance, kind: str, somebody: Callable[[Flask], Any]
) -> None:
    source, target = make_instance("sqlite"), make_instance(kind, lasting=False)
    fill(source)
    close(target)
    with ExitStack() as stack:

        def come_in() -> None:
            stack.enter_context(somebody(target))

        with pytest.raises(MaintenanceError, match="in use"):
            copy_database(url_of(source), url_of(target), make_schema=come_in)


def test_a_difference_is_told_and_leaves_the_copy_unfinished(
    sqlite: Flask, make_instance: MakeInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make_instance("sqlite")
    fill(source)
    insert_rows = copying.insert_rows

    def spoil(connection: Any, codec: Any, rows: list[Any]) -> None:
        if codec.name == "events":
            place = codec.columns.index("body")
            rows = [(*row[:place], row[place] + " ", *row[place + 1 :]) for row in rows]
        insert_rows(connection, codec, rows)

    monkeypatch.setattr(copying, "insert_rows", spoil)
    close(sqlite)
    told = run(source, "copy-database", "--to", address(sqlite))
    assert (told.exit_code, "The target differs: " in told.stdout) == (1, True)
    lines = [line.split() for line in told.stdout.splitlines()]
    assert [line[0] for line in lines if line[-1:] == ["DIFFERENT"]] == ["events"]
    with open_snapshot(url_of(sqlite)) as connection:
        assert is_half_copied(connection)
    monkeypatch.undo()
    assert all(table.is_equal for table in copy(source, sqlite))


def test_what_is_written_during_the_copy_is_not_in_it(make_instance: MakeInstance) -> None:
    source, target = make_instance("sqlite"), make_instance("postgresql")
    client = make_account(source)
    make_project(client)
    written: list[Any] = []

    def write(_: int) -> None:
        if not written:
            written.append(make_project(client))

    assert all(table.is_equal for table in copy(source, target, progress=write))
    assert (count(source, Project), count(target, Project)) == (2, 1)
    assert (count(source, Event), count(target, Event)) == (2, 1)


def test_a_text_that_the_target_refuses_is_told(make_instance: MakeInstance) -> None:
    source, target = make_instance("sqlite"), make_instance("postgresql", lasting=False)
    make_account(source)
    with source.app_context(), transaction():
        db.session.execute(text("UPDATE accounts SET name = 'a' || char(0) || 'b'"))
    with pytest.raises(psycopg.DataError, match="NUL"):
        copy(source, target)
