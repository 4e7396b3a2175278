"""Bringing the schema of a database up to date. Alembic is imported when a revision is applied."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click
from flask import Flask, current_app
from flask.cli import FlaskGroup
from sqlalchemy import Connection, column, func, table
from sqlalchemy.exc import SQLAlchemyError

from app.db import connections, migration_copies, snapshots
from app.db.extensions import db
from app.db.postgresql.pool_mode import require_pool_mode
from app.db.revisions import (
    FOLDER,
    current_revision,
    is_supported,
    newest_revision,
    of_another_version,
    revision_of,
)

if TYPE_CHECKING:
    from alembic.runtime.migration import MigrationInfo
    from alembic.script import Script

log = logging.getLogger(__name__)

# The attributes by which env.py gets a connection, and what to call after each revision.
CONNECTION: Final = "connection"
APPLIED: Final = "applied"
# Alembic's table of one row, with a column of ours. Revisions are compared as text.
_VERSION: Final = table("alembic_version", column("oldest_code"))


class CannotMigrate(Exception):
    """The tables stay as they are."""


def init_app(app: Flask) -> None:
    """Give the command ``flask`` those of Flask-Migrate."""
    context = click.get_current_context(silent=True)
    if context is not None and isinstance(context.find_root().command, FlaskGroup):
        use_flask_migrate(app)


def use_flask_migrate(app: Flask) -> None:
    """Give an application the commands and functions of Flask-Migrate."""
    from flask_migrate import Migrate  # noqa: PLC0415

    Migrate().init_app(app, db, directory=FOLDER)


def upgrade(say: Callable[[str], None] = lambda _: None, *, keeps_copy: bool = True) -> None:
    """Apply every revision that the database lacks, in one transaction. Needs an app context.

    A newer version may have migrated it already; nothing happens if this one runs on its tables.

    Args:
        say: called with each line about a database that has tables.
        keeps_copy: whether a copy of such a file of SQLite is made before, beside it.

    Raises:
        CannotMigrate: the tables are those of a newer version or of one before 1.0, a revision
            fails, or there is no space for the copy.
        config.SettingsError: PGBOUNCER_POOL_MODE is wrong.
        sqlalchemy.exc.SQLAlchemyError: the database fails.
    """
    settings = current_app.config["SETTINGS"]
    require_pool_mode(settings)
    if is_supported():
        return
    with snapshots.open_transaction(snapshots.database_url(settings)) as connection:
        found = revision_of(connection)
        if found is None:
            apply_revisions(connection)
            return
        if found not in _revisions():
            raise CannotMigrate(of_another_version(found))
        say(f"Migrating the database from revision {found} to {newest_revision()}.")
        if keeps_copy and connection.dialect.name == "sqlite":
            try:
                say(f"A copy of it as it was: {migration_copies.keep_copy(connection, found)}")
            except OSError as error:
                raise CannotMigrate(
                    f"There is no copy of the database as it was: {error}"
                ) from error
        apply_revisions(connection, say=say)


def apply_revisions(
    connection: Connection, target: str = "head", *, say: Callable[[str], None] = lambda _: None
) -> None:
    """Apply the revisions that a database lacks up to one, in the current transaction, which checks
    no foreign keys. Needs an app context.

    Args:
        say: called with a line after each.

    Raises:
        CannotMigrate: there is no such revision, or one would leave rows without their parents.
    """
    from alembic import command  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    use_flask_migrate(current_app)
    config = current_app.extensions["migrate"].migrate.get_config(FOLDER)
    config.attributes |= {CONNECTION: connection, APPLIED: _Report(say)}
    try:
        command.upgrade(config, target)
    except (CommandError, RuntimeError) as error:
        raise CannotMigrate(str(error)) from error


def make_first_tables(app: Flask) -> None:
    """Create the tables of a SQLite database that has none, so that ``flask run`` and ``worker.py``
    work in a new folder without another command. Any other database stays as it is."""
    if not app.config["SETTINGS"].uses_sqlite:
        return
    with app.app_context():
        try:
            if current_revision() is None:
                upgrade()
        except SQLAlchemyError as error:  # it may come back; until then requests get a 503
            log.error("database unavailable: %s", getattr(error, "orig", error))
        connections.close_all()  # forked web processes must not inherit them


def _revisions() -> list[str]:
    """All revisions of this version."""
    return [path.name[:4] for path in Path(FOLDER, "versions").glob("[0-9]*_*.py")]


class _Report:
    """Says of each revision what it was, and how long it took."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._began = time.monotonic()

    def __call__(self, step: MigrationInfo) -> None:
        revision, now = cast("Script", step.up_revision), time.monotonic()
        self._say(f"{revision.revision} {revision.doc}: {now - self._began:.1f} s")
        self._began = now


def keep_others_out(connection: Connection, coming: Iterable[Script]) -> None:
    """On PostgreSQL, keep out changes until the current transaction ends if one of the revisions to
    come does not let earlier code run. On SQLite, it has the lock of writers already."""
    is_shared = all(getattr(each.module, "runs_earlier_code", False) for each in coming)
    if not is_shared and connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")


def note_oldest_code(connection: Connection, step: MigrationInfo) -> None:
    """Note down the oldest revision whose code runs on the tables as this revision leaves them."""
    revision = cast("Script", step.up_revision)
    runs_earlier_code = getattr(revision.module, "runs_earlier_code", False)
    oldest = func.coalesce(_VERSION.c.oldest_code, revision.down_revision)
    connection.execute(
        _VERSION.update().values(oldest_code=oldest if runs_earlier_code else revision.revision)
    )
