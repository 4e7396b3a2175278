"""Bringing the schema of a database up to date."""

from __future__ import annotations

import logging

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import Flask
from flask_migrate import Migrate
from flask_migrate import upgrade as run_upgrade
from sqlalchemy.exc import SQLAlchemyError

from app.db import connections
from app.db.extensions import db
from app.db.queries import connect
from config import ROOT

log = logging.getLogger(__name__)

FOLDER = str(ROOT / "migrations")


def init_app(app: Flask) -> None:
    """Let ``upgrade`` and the commands of Flask-Migrate find the database and the revisions."""
    Migrate().init_app(app, db, directory=FOLDER)


def upgrade() -> None:
    """Apply every revision that the database lacks, in one transaction. Needs an app context."""
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
        return MigrationContext.configure(connection).get_current_revision()


def newest_revision() -> str:
    """The revision that this version of the service requires."""
    head = ScriptDirectory(FOLDER).get_current_head()
    assert head is not None
    return head


def is_current() -> bool:
    """Whether the database has the schema of this version."""
    return current_revision() == newest_revision()
