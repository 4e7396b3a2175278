"""Bringing the schema of a database up to date. Alembic is imported only to apply a revision."""

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
from app.settings.current import current_settings

if TYPE_CHECKING:
    from alembic.runtime.migration import MigrationInfo
    from alembic.script import Script

log = logging.getLogger(__name__)

# Attributes by which env.py gets a connection, and a function to call after each revision.
CONNECTION: Final = "connection"
APPLIED: Final = "applied"
# Alembic's table of one row, with our column. Revisions are compared as text.
_VERSION: Final = table("alembic_version", column("oldest_code"))


class CannotMigrate(Exception):
    """The tables stay as they are."""


def init_app(app: Flask) -> None:
    """Give the command ``flask`` the subcommands of Flask-Migrate."""
    context = click.get_current_context(silent=True)
    if context is not None and isinstance(context.find_root().command, FlaskGroup):
        use_flask_migrate(app)


def use_flask_migrate(app: Flask) -> None:
    """Give an application Flask-Migrate."""
    from flask_migrate import Migrate  # noqa: PLC0415

    Migrate().init_app(app, db, directory=FOLDER)


def upgrade(say: Callable[[str], None] = lambda _: None, *, keeps_copy: bool = True) -> None:
    """Apply every revision that the database lacks, in one transaction. Needs an app context.

    Nothing happens if a newer version has migrated it to tables on which this one runs.

    Args:
        say: called with each line about the migration of existing tables.
        keeps_copy: copy a SQLite file with tables first.

    Raises:
        CannotMigrate: the tables are of a newer version or of one before 1.0, a revision fails, or
            there is no space for the copy.
        config.SettingsError: PGBOUNCER_POOL_MODE is wrong.
        sqlalchemy.exc.SQLAlchemyError: the database fails.
    """
    settings = current_settings()
    require_pool_mode(settings)
    if is_supported():
        return
    with snapshots.open_transaction(snapshots.database_url(settings)) as connection:
        revision = revision_of(connection)
        if revision is None:
            apply_revisions(connection)
            return
        if revision not in _all_revisions():
            raise CannotMigrate(of_another_version(revision))
        say(f"Migrating the database from revision {revision} to {newest_revision()}.")
        if keeps_copy and connection.dialect.name == "sqlite":
            try:
                say(f"A copy of it as it was: {migration_copies.keep_copy(connection, revision)}")
            except OSError as error:
                raise CannotMigrate(
                    f"There is no copy of the database as it was: {error}"
                ) from error
        apply_revisions(connection, say=say)


def apply_revisions(
    connection: Connection, target: str = "head", *, say: Callable[[str], None] = lambda _: None
) -> None:
    """Apply the revisions that a database lacks up to ``target``, in the current transaction, which
    checks no foreign keys. Needs an app context.

    Args:
        say: called with a line after each revision.

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
    work in a new folder without another command."""
    if not app.config["SETTINGS"].uses_sqlite:
        return
    with app.app_context():
        try:
            if current_revision() is None:
                upgrade()
        except SQLAlchemyError as error:  # until it is back, requests get a 503
            log.error("database unavailable: %s", getattr(error, "orig", error))
        connections.close_all()  # forked web processes must not inherit them


def _all_revisions() -> list[str]:
    """Return all revisions of this version."""
    return [path.name[:4] for path in Path(FOLDER, "versions").glob("[0-9]*_*.py")]


class _Report:
    """Says what each revision was, and how long it took."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._began = time.monotonic()

    def __call__(self, step: MigrationInfo) -> None:
        revision, now = cast("Script", step.up_revision), time.monotonic()
        self._say(f"{revision.revision} {revision.doc}: {now - self._began:.1f} s")
        self._began = now


def keep_others_out(connection: Connection, coming: Iterable[Script]) -> None:
    """On PostgreSQL, block changes until the current transaction ends, unless earlier code runs on
    all coming revisions. On SQLite, the transaction has the writers' lock already."""
    is_compatible = all(getattr(script.module, "runs_earlier_code", False) for script in coming)
    if not is_compatible and connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")


def note_oldest_code(connection: Connection, step: MigrationInfo) -> None:
    """Store the oldest revision whose code runs on the tables after this revision."""
    revision = cast("Script", step.up_revision)
    runs_earlier_code = getattr(revision.module, "runs_earlier_code", False)
    oldest = func.coalesce(_VERSION.c.oldest_code, revision.down_revision)
    connection.execute(
        _VERSION.update().values(oldest_code=oldest if runs_earlier_code else revision.revision)
    )
