"""Every revision runs forwards over rows that are there, and loses none."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from flask import Flask
from flask_migrate import upgrade as run_upgrade
from sqlalchemy import (
    JSON,
    Boolean,
    Connection,
    DateTime,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    Table,
)
from sqlalchemy.exc import IntegrityError

from app.db.extensions import db
from app.db.revisions import FOLDER, is_supported
from app.db.snapshots import connect
from app.lists import totals
from app.projects.derived import search_columns
from app.projects.listing import list_projects, project_query

ROWS = 3
ONE_ROW = ("instance_state",)  # tables that cannot have more
# Tables that a revision drops, and why nothing is lost with them.
DROPPED = {
    "0002": {"request_count_batches": "which batches were added, of a job that has none anymore"}
}
# Values of columns that take some words only.
WORDS = {
    ("accounts", "type"): "organization",
    ("credentials", "kind"): "api_key",
    ("memberships", "role"): "owner",
    ("projects", "status"): "active",
    ("billing_events", "source"): "billing",
    ("mailed_links", "purpose"): "reset_password",
    ("oauth_tokens", "kind"): "access",
    ("deliveries", "cause"): "event",
    ("deliveries", "state"): "pending",
    ("delivery_logs", "status"): "failed",
    ("attempt_counts", "status"): "failed",
    ("imports", "kind"): "projects",
    ("imports", "status"): "applied",
    ("import_features", "verdict"): "new",
}
REVISIONS = [found.revision for found in ScriptDirectory(FOLDER).walk_revisions()][::-1]


def tables(connection: Connection) -> list[Table]:
    """The tables of the database as it is, each after those that it refers to."""
    found = MetaData()
    found.reflect(connection)
    inner = ("_text", "_box", "_words")  # of the indexes on SQLite
    return [
        table
        for table in found.sorted_tables
        if table.name != "alembic_version" and not any(part in table.name for part in inner)
    ]


def value(table: Table, name: str, number: int) -> Any:
    """A value that a column takes; the same number gives the same one, so that rows fit."""
    column = table.columns[name]
    for key in column.foreign_keys:
        return value(key.column.table, key.column.name, number)
    if (table.name, name) in WORDS:
        return WORDS[table.name, name]
    if isinstance(column.type, DateTime) or name.endswith("_at"):  # SQLite has them as text
        moment = datetime(2026, 1, 1 + number, tzinfo=UTC)
        return (
            moment if isinstance(column.type, DateTime) else f"2026-01-0{1 + number}T00:00:00.000Z"
        )
    if isinstance(column.type, LargeBinary):
        return b"\x00\xff%d" % number
    if isinstance(column.type, JSON):
        return {"number": number}
    if isinstance(column.type, Boolean):
        return True
    if isinstance(column.type, Integer | Numeric):
        return number
    return f"{name[:3]}{number}"


def rows_in(name: str) -> int:
    return 1 if name in ONE_ROW else ROWS


def fill(connection: Connection, table: Table) -> None:
    for number in range(1, rows_in(table.name) + 1):
        row = {
            column.name: value(table, column.name, number)
            for column in table.columns
            if not column.nullable
        }
        connection.execute(table.insert().values(row))


def rows_of(connection: Connection, columns: dict[str, list[str]]) -> dict[str, list[Any]]:
    """The rows of these tables, in these columns."""
    found = {}
    for table in tables(connection):
        if table.name in columns:
            picked = [table.columns[name] for name in columns[table.name]]
            rows = connection.execute(table.select().with_only_columns(*picked)).all()
            found[table.name] = sorted(map(repr, rows))
    return found


@pytest.mark.parametrize(
    "revision",
    [
        REVISIONS[0],
        *(pytest.param(each, marks=pytest.mark.slow) for each in REVISIONS[1:-2]),
        REVISIONS[-2],
    ],
)
def test_all_rows_are_kept_on_the_way_to_the_newest_tables(empty_app: Flask, revision: str) -> None:
    later = REVISIONS[REVISIONS.index(revision) + 1 :]
    dropped = {name for step in later for name in DROPPED.get(step, ())}
    with empty_app.app_context():
        run_upgrade(directory=FOLDER, revision=revision)
        with connect(db.engine.url) as connection:
            for table in tables(connection):
                fill(connection, table)
        with connect(db.engine.url) as connection:
            columns = {
                table.name: [column.name for column in table.columns]
                for table in tables(connection)
                if table.name not in dropped
            }
            before = rows_of(connection, columns)
        assert all(len(rows) == rows_in(name) for name, rows in before.items())
        run_upgrade(directory=FOLDER)
        assert is_supported()
        with connect(db.engine.url) as connection:
            assert rows_of(connection, columns) == before


def test_each_boundary_gets_an_entry(empty_app: Flask) -> None:
    """Of the time of its project, and with the number of its id."""
    square = '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}'
    ids = ("proj_01k9zq3mgse2j7tbyw5c4r8nhd", "proj_01k9zq3mgse2j7tbyw5c4r8nhe")
    with empty_app.app_context():
        run_upgrade(directory=FOLDER, revision="0006")
        with connect(db.engine.url) as connection:
            (accounts,) = (table for table in tables(connection) if table.name == "accounts")
            (projects,) = (table for table in tables(connection) if table.name == "projects")
            fill(connection, accounts)
            for number, (project_id, boundary) in enumerate(zip(ids, (square, None), strict=True)):
                row = {
                    column.name: value(projects, column.name, number + 1)
                    for column in projects.columns
                    if not column.nullable
                }
                row |= {"id": project_id, "geometry": boundary, "area_m2": boundary and 77}
                connection.execute(projects.insert().values(row))
        run_upgrade(directory=FOLDER)
        with connect(db.engine.url) as connection:
            rows = connection.exec_driver_sql(
                "SELECT b.id, b.project_id, b.area_m2, b.added_m2, b.removed_m2, b.geometry,"
                " b.source, b.created_by, b.replaced_at, b.created_at = p.created_at"
                " FROM boundaries AS b JOIN projects AS p ON p.id = b.project_id"
            ).all()
    (entry,) = rows
    unknown = (None,) * 4
    assert tuple(entry) == ("bnd_01k9zq3mgse2j7tbyw5c4r8nhd", ids[0], 77, 77, 0, *unknown, True)


OLD_TEXT = "\u0142\u00f3d\u017a\uffffia\u0219i i\u00e6\u304c"  # of Łódź, and Iași ıÆが


@pytest.mark.both
@pytest.mark.parametrize("number", [3, pytest.param(5_003, marks=pytest.mark.slow)])
def test_texts_are_searched_as_if_they_were_written_now(empty_app: Flask, number: int) -> None:
    """In the index of texts too, which is made anew if there are many."""
    own_ids = [None if each % 2 else f"Ö-{each}" for each in range(number)]
    with empty_app.app_context():
        run_upgrade(directory=FOLDER, revision="0031")
        with connect(db.engine.url) as connection:
            found = {table.name: table for table in tables(connection)}
            fill(connection, found["accounts"])
            fill(connection, found["account_usage"])
            row = {
                column.name: value(found["projects"], column.name, 1)
                for column in found["projects"].columns
                if not column.nullable and column.name != "row"
            }
            rows = [
                row | {"id": f"proj_{n}", "slug": f"s{n}", "search_text": OLD_TEXT}
                for n in range(number)
            ]
            rows = [made | {"external_id": own} for made, own in zip(rows, own_ids, strict=True)]
            connection.execute(found["projects"].insert(), rows)
        run_upgrade(directory=FOLDER)
        with connect(db.engine.url) as connection:
            texts = connection.exec_driver_sql('SELECT search_text FROM projects ORDER BY "row"')
            expected = [
                search_columns("Łódź", "Iași ıÆが", own_id)["search_text"] for own_id in own_ids
            ]
            assert texts.scalars().all() == expected
            connection.exec_driver_sql(
                "UPDATE projects SET search_text = 'beech' WHERE slug = 's1'"
            )
        totals.forget()  # of another database with this account
        account_id = row["account_id"]
        for needle, matches in (("lodz", number - 1), ("ö-0", 1), ("beech", 1)):
            _, total = list_projects(account_id, project_query(search=needle))
            assert total == matches
        check(empty_app)


@pytest.mark.both
def test_assets_get_external_ids(empty_app: Flask) -> None:
    """They have none, are found as before, and can have one each within their project."""
    with empty_app.app_context():
        run_upgrade(directory=FOLDER, revision="0033")
        with connect(db.engine.url) as connection:
            for table in tables(connection):
                fill(connection, table)
            rows = connection.exec_driver_sql('SELECT "row", search_text FROM assets').all()
        run_upgrade(directory=FOLDER)
        with connect(db.engine.url) as connection:
            texts = connection.exec_driver_sql('SELECT "row", search_text FROM assets').all()
            assert sorted(texts) == sorted(rows)
            found = connection.exec_driver_sql("SELECT external_id FROM assets").scalars().all()
            assert found == [None] * ROWS
        with connect(db.engine.url) as connection:  # each is in a project of its own
            connection.exec_driver_sql("UPDATE assets SET external_id = 'A'")
        taken = "UPDATE assets SET account_id = 'id1', project_id = 'id1'"
        with (
            pytest.raises(IntegrityError, match="external_id"),
            connect(db.engine.url) as connection,
        ):
            connection.exec_driver_sql(taken)
        check(empty_app)


def check(app: Flask) -> None:
    """What ``flask db check`` does. It raises what ``flask db migrate`` would write."""
    command.check(app.extensions["migrate"].migrate.get_config(FOLDER))


def test_the_revisions_make_what_the_models_describe(empty_app: Flask) -> None:
    with empty_app.app_context():
        run_upgrade(directory=FOLDER)
        check(empty_app)


@pytest.mark.parametrize(
    ("statement", "difference"),
    [
        ("ALTER TABLE projects DROP COLUMN description", "('add_column', None, 'projects'"),
        ("ALTER TABLE projects ADD COLUMN bees INTEGER", "('remove_column', None, 'projects'"),
        ("DROP INDEX ix_projects_account_id_area_m2_id", "('add_index', Index('ix_projects_"),
        ("CREATE INDEX bees ON assets (name)", "('remove_index', Index('bees'"),
    ],
)
def test_what_the_models_have_besides_is_found(
    empty_app: Flask, statement: str, difference: str
) -> None:
    with empty_app.app_context():
        run_upgrade(directory=FOLDER)
        with db.engine.begin() as connection:
            connection.exec_driver_sql(statement)
        with pytest.raises(CommandError, match=re.escape(difference)):
            check(empty_app)


@pytest.mark.slow
def test_attempts_in_the_log_are_counted(empty_app: Flask) -> None:
    """By hour, outcome and rounded duration."""
    with empty_app.app_context():
        run_upgrade(directory=FOLDER, revision="0010")
        with connect(db.engine.url) as connection:
            for table in tables(connection):
                fill(connection, table)
            logs = next(each for each in tables(connection) if each.name == "delivery_logs")
            connection.execute(logs.update().values(status="success", response_time_ms=123))
        run_upgrade(directory=FOLDER)
        with connect(db.engine.url) as connection:
            counts = next(each for each in tables(connection) if each.name == "attempt_counts")
            found = connection.execute(counts.select().order_by(counts.c.hour)).mappings().all()
    assert [row["number"] for row in found] == [1] * ROWS
    assert {(row["status"], row["took_ms"]) for row in found} == {("success", 150)}
    assert str(found[0]["hour"])[:10] == "2026-01-02"
    assert found[0]["webhook_id"] == value(logs, "webhook_id", 1)
