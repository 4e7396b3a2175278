"""Bringing the schema of a database up to date.

Alembic is imported only when there is something to migrate: it takes 7 MB, and a good part of the
start.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from flask import Flask, current_app
from sqlalchemy import Connection, column, func, inspect, select, table
from sqlalchemy.exc import SQLAlchemyError

from app.db import connections
from app.db.extensions import db
from app.db.postgresql.pool_mode import require_pool_mode
from app.db.queries import connect
from app.values.command_name import canopy_command
from config import ROOT

if TYPE_CHECKING:
    from alembic.runtime.migration import MigrationInfo
    from alembic.script import Script

log = logging.getLogger(__name__)

FOLDER = str(ROOT / "migrations")
_FIRST_NOTED: Final = "0006"  # which made the column
# Alembic's table of one row, with a column of ours. Revisions are compared as text.
_VERSION: Final = table("alembic_version", column("version_num"), column("oldest_code"))


def init_app(app: Flask) -> None:
    """Let the commands of Flask-Migrate find the database and the revisions. ``flask`` imports it
    before the application."""
    if "flask_migrate" in sys.modules:
        _use_flask_migrate(app)


def _use_flask_migrate(app: Flask) -> None:
    from flask_migrate import Migrate  # noqa: PLC0415

    Migrate().init_app(app, db, directory=FOLDER)


def upgrade() -> None:
    """Apply every revision that the database lacks, in one transaction. Needs an app context.

    A newer version may have migrated it already; nothing happens if this one runs on its tables.

    Raises:
        config.SettingsError: PGBOUNCER_POOL_MODE is wrong.
    """
    require_pool_mode(current_app.config["SETTINGS"])
    if is_supported():
        return
    from flask_migrate import upgrade as run_upgrade  # noqa: PLC0415

    _use_flask_migrate(current_app)
    run_upgrade(directory=FOLDER)


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


def current_revision() -> str | None:
    """The revision that the database has, or None when it is empty."""
    with connect() as connection:
        return revision_of(connection)


def revision_of(connection: Connection) -> str | None:
    """The revision of the schema of a database, or None without tables."""
    if not inspect(connection).has_table(_VERSION.name):
        return None
    found: str | None = connection.execute(select(_VERSION.c.version_num)).scalar()
    return found


def newest_revision() -> str:
    """The revision that this version of the service requires."""
    return max(path.name for path in Path(FOLDER, "versions").glob("[0-9]*_*.py")).partition("_")[0]


def is_supported() -> bool:
    """Return whether this version runs on the tables of the database."""
    with connect() as connection:
        return is_supported_by(connection)


def is_supported_by(connection: Connection) -> bool:
    """Return whether this version runs on the tables of a database: they are of the revision that
    it requires, or of a later one that allows it."""
    found, own = revision_of(connection), newest_revision()
    if found is None or found <= own:
        return found == own
    oldest_code = connection.exec_driver_sql("SELECT oldest_code FROM alembic_version").scalar()
    return oldest_code is not None and oldest_code <= own


def advice(found: str) -> str:
    """The advice about tables of another revision, on which this version does not run."""
    if found > newest_revision():
        return "Install the version of Canopy that migrated it, or a newer one."
    return f"Make a backup, then run: {canopy_command()} migrate"


def note_oldest_code(connection: Connection, step: MigrationInfo) -> None:
    """Note down the oldest revision whose code runs on the tables as this revision leaves them."""
    revision = cast("Script", step.up_revision)
    if revision.revision < _FIRST_NOTED:
        return
    runs_earlier_code = getattr(revision.module, "runs_earlier_code", False)
    oldest = func.coalesce(_VERSION.c.oldest_code, revision.down_revision)
    connection.execute(
        _VERSION.update().values(oldest_code=oldest if runs_earlier_code else revision.revision)
    )
