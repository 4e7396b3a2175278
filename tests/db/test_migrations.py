"""Every revision runs forwards over rows that are there, and loses none."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
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
    select,
)

from app.db.extensions import db
from app.db.revisions import FOLDER
from app.db.snapshots import open_transaction
from app.models import User
from app.values.formats import format_in
from tests.db.later_version import folder_with_revisions

ROWS = 3
ONE_ROW = ("instance_state",)  # tables that cannot have more
# Values of columns that take some words only.
WORDS = {
    ("accounts", "type"): "organization",
    ("credentials", "kind"): "api_key",
    ("memberships", "role"): "owner",
    ("projects", "status"): "active",
    ("billing_events", "source"): "billing",
    ("boundaries", "source"): "api",
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


@pytest.mark.slow
@pytest.mark.both
@pytest.mark.parametrize("revision", REVISIONS)
def test_all_rows_are_kept_on_the_way_to_later_tables(
    empty_app: Flask, tmp_path: Path, revision: str
) -> None:
    with empty_app.app_context():
        run_upgrade(directory=FOLDER, revision=revision)
        with open_transaction(db.engine.url) as connection:
            for table in tables(connection):
                fill(connection, table)
        with open_transaction(db.engine.url) as connection:
            columns = {
                table.name: [column.name for column in table.columns]
                for table in tables(connection)
            }
            before = rows_of(connection, columns)
        assert all(len(rows) == rows_in(name) for name, rows in before.items())
        run_upgrade(directory=folder_with_revisions(tmp_path, True))
        with open_transaction(db.engine.url) as connection:
            assert rows_of(connection, columns) == before


@pytest.mark.both
def test_formats_of_dates_become_locales_that_write_the_same(empty_app: Flask) -> None:
    noon = datetime(2026, 1, 31, 14, 5, tzinfo=UTC)
    former = {
        "iso": "2026-01-31, 14:05",
        "dots": "31.01.2026, 14:05",
        "slashes": "31/01/2026, 14:05",
        "slashes_12": "31/01/2026, 2:05 pm",
        "us": "01/31/2026, 2:05 PM",
        "us_24": "01/31/2026, 14:05",
        None: None,
    }
    with empty_app.app_context():
        run_upgrade(directory=FOLDER, revision=REVISIONS[REVISIONS.index("0109") - 1])
        with open_transaction(db.engine.url) as connection:
            users = next(table for table in tables(connection) if table.name == "users")
            names = [column.name for column in users.columns if not column.nullable]
            for number, name in enumerate(former):
                row = {column: value(users, column, number) for column in names}
                connection.execute(users.insert().values(row | {"date_format": name}))
        run_upgrade(directory=FOLDER)
        found = db.session.scalars(select(User.locale).order_by(User.id)).all()
    written = [locale and format_in(locale).moment(noon) for locale in found]
    assert written == list(former.values())


def check(app: Flask) -> None:
    """What ``flask db check`` does. It raises what ``flask db migrate`` would write."""
    command.check(app.extensions["migrate"].migrate.get_config(FOLDER))


@pytest.mark.both
def test_the_revisions_make_what_the_models_describe(empty_app: Flask) -> None:
    with empty_app.app_context():
        run_upgrade(directory=FOLDER)
        check(empty_app)


@pytest.mark.both
def test_what_the_models_have_besides_is_found(empty_app: Flask) -> None:
    with empty_app.app_context():
        run_upgrade(directory=FOLDER)
        with db.engine.begin() as connection:
            for statement in (
                "ALTER TABLE projects DROP COLUMN description",
                "ALTER TABLE projects ADD COLUMN bees INTEGER",
                "DROP INDEX ix_projects_account_id_area_m2_id",
                "CREATE INDEX bees ON assets (name)",
            ):
                connection.exec_driver_sql(statement)
        with pytest.raises(CommandError) as raised:
            check(empty_app)
    for difference in (
        "('add_column', None, 'projects'",
        "('remove_column', None, 'projects'",
        "('add_index', Index('ix_projects_",
        "('remove_index', Index('bees'",
    ):
        assert difference in str(raised.value)
