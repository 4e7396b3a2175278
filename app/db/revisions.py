"""The revision of a database's tables, and whether this version runs on them. Needs no Alembic,
unlike ``app.db.migrations``."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect
from sqlalchemy.exc import OperationalError

from app.db.postgresql.connection import VERSION
from app.db.queries import reading_connection
from app.values.command_name import canopy_command
from config import ROOT

log = logging.getLogger(__name__)

FOLDER = str(ROOT / "migrations")
FIRST: Final = "0100"  # revision of version 1.0
_REVISION: Final = "SELECT version_num FROM alembic_version"


def current_revision() -> str | None:
    """Return the revision of the database; None without tables."""
    with reading_connection() as connection:
        return revision_of(connection)


def revision_of(connection: Connection) -> str | None:
    """Return the revision of a database; None without tables."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.exec_driver_sql(_REVISION).scalar()
    return revision


def newest_revision() -> str:
    """Return the revision that this version requires."""
    return max(path.name.partition("_")[0] for path in Path(FOLDER, "versions").glob("[0-9]*.py"))


def is_supported() -> bool:
    """True if this version runs on the tables of the database."""
    with reading_connection() as connection:
        return is_supported_by(connection)


def is_supported_by(connection: Connection) -> bool:
    """True if this version runs on the tables of a database: their revision is the one that it
    requires, or a later one that allows it."""
    revision = revision_of(connection)
    if revision is None or revision <= newest_revision():
        return revision == newest_revision()
    return _runs_on(*connection.exec_driver_sql(VERSION).one())


def _runs_on(revision: str, oldest_code: str | None) -> bool:
    own = newest_revision()
    return revision == own or (revision > own and oldest_code is not None and oldest_code <= own)


def state_of(connection: Connection) -> str:
    """Return ``ok`` if this version runs on the tables of a database, else ``no_tables`` or
    ``other_version``."""
    if is_supported_by(connection):
        return "ok"
    return "no_tables" if revision_of(connection) is None else "other_version"


class OtherTables(Exception):
    """This version does not run on the tables, so that it changes nothing."""


class TablesCheck:
    """Refuses changes on tables that this version does not run on, as after another version has
    migrated them. Reading goes on as far as it works."""

    def __init__(self) -> None:
        self._checked: tuple[str, str | None] | None = None
        self._refusal: str | None = None  # the reason

    def __call__(self, version: tuple[str, str | None] | None) -> None:
        """Check the row of ``VERSION`` at the beginning of a change; None if there is no such
        table. Cheap while it is the same.

        Raises:
            sqlalchemy.exc.OperationalError: changes are refused, with OtherTables.
        """
        if version != self._checked or version is None:
            self._check(version)
        if self._refusal is not None:
            raise OperationalError("BEGIN", {}, OtherTables(self._refusal))

    def _check(self, version: tuple[str, str | None] | None) -> None:
        former, self._checked = self._refusal, version
        if version is None:
            self._refusal = f"The database has no tables. Run: {canopy_command()} migrate"
        else:
            self._refusal = None if _runs_on(*version) else of_another_version(version[0])
        if self._refusal is not None:
            if self._refusal != former:
                log.error("changes are refused: %s", self._refusal)
        elif former is not None:
            log.info("changes are taken again")


def revision_advice(revision: str) -> str:
    """Return the advice about tables of a revision on which this version does not run."""
    if revision < FIRST:
        return "Export its projects with that version, then import them into an empty database."
    if revision > newest_revision():
        return (
            "Install the version of Canopy that migrated it, or a newer one; or go back: "
            f"{canopy_command()} restore replaces the database, and its tables, with a backup."
        )
    return f"Make a backup, then run: {canopy_command()} migrate"


def of_another_version(revision: str) -> str:
    """Return the message about tables of a revision on which this version does not run."""
    if revision < FIRST:
        return (
            "The database is of a version of Canopy before 1.0: export its projects with that "
            "version, then import them into an empty database."
        )
    return (
        f"The database has the tables of another version of Canopy ({revision}; this one needs "
        f"{newest_revision()}). {revision_advice(revision)}"
    )
