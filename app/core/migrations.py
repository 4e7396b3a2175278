"""Bringing the schema of a database up to date."""

from __future__ import annotations

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask_migrate import upgrade as run_upgrade

from app.core.reading import connect
from config import ROOT

FOLDER = str(ROOT / "migrations")


def upgrade() -> None:
    """Apply every revision that the database lacks, in one transaction. Needs an app context."""
    run_upgrade(directory=FOLDER)


def current_revision() -> str | None:
    """The revision that the database has, or None when it is empty."""
    with connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def newest_revision() -> str:
    """The revision that this version of the service needs."""
    head = ScriptDirectory(FOLDER).get_current_head()
    assert head is not None
    return head


def is_current() -> bool:
    """Whether the database has the schema of this version."""
    return current_revision() == newest_revision()
