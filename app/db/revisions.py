"""Which revision the tables of a database have, and whether this version runs on them.

``app.db.migrations`` changes that. This module needs no Alembic.
"""

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
FIRST: Final = "0100"  # of version 1.0; those below it were of versions before
_REVISION: Final = "SELECT version_num FROM alembic_version"


def current_revision() -> str | None:
    """The revision that the database has, or None when it is empty."""
    with reading_connection() as connection:
        return revision_of(connection)


def revision_of(connection: Connection) -> str | None:
    """The revision of the schema of a database, or None without tables."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.exec_driver_sql(_REVISION).scalar()
    return revision


def newest_revision() -> str:
    """The revision that this version of the service requires."""
    return max(path.name.partition("_")[0] for path in Path(FOLDER, "versions").glob("[0-9]*.py"))


def is_supported() -> bool:
    """Return whether this version runs on the tables of the database."""
    with reading_connection() as connection:
        return is_supported_by(connection)


def is_supported_by(connection: Connection) -> bool:
    """Return whether this version runs on the tables of a database: they are of the revision that
    it requires, or of a later one that allows it."""
    found = revision_of(connection)
    if found is None or found <= newest_revision():
        return found == newest_revision()
    return _runs_on(*connection.exec_driver_sql(VERSION).one())


def _runs_on(found: str, oldest_code: str | None) -> bool:
    own = newest_revision()
    return found == own or (found > own and oldest_code is not None and oldest_code <= own)


def state_of(connection: Connection) -> str:
    """``ok`` if this version runs on the tables of a database, else ``no_tables`` or
    ``other_version``."""
    if is_supported_by(connection):
        return "ok"
    return "no_tables" if revision_of(connection) is None else "other_version"


class OtherTables(Exception):
    """Nothing is changed on tables that this version does not run on."""


class TablesCheck:
    """Refuses changes on tables that this version does not run on, as after another version has
    migrated them. Reading goes on as far as it works."""

    def __init__(self) -> None:
        self._judged: tuple[str, str | None] | None = None
        self._refusal: str | None = None  # why they are refused

    def __call__(self, found: tuple[str, str | None] | None) -> None:
        """Judge what ``VERSION`` found at the beginning of a change, or None without such tables.
        It takes nothing while it is as before.

        Raises:
            sqlalchemy.exc.OperationalError: of OtherTables.
        """
        if found != self._judged or found is None:
            self._judge(found)
        if self._refusal is not None:
            raise OperationalError("BEGIN", {}, OtherTables(self._refusal))

    def _judge(self, found: tuple[str, str | None] | None) -> None:
        former, self._judged = self._refusal, found
        if found is None:
            self._refusal = f"The database has no tables. Run: {canopy_command()} migrate"
        else:
            self._refusal = None if _runs_on(*found) else of_another_version(found[0])
        if self._refusal is not None:
            if self._refusal != former:
                log.error("changes are refused: %s", self._refusal)
        elif former is not None:
            log.info("changes are taken again")


def advice(found: str) -> str:
    """The advice about tables of another revision, on which this version does not run."""
    if found < FIRST:
        return "Export its projects with that version, then import them into an empty database."
    if found > newest_revision():
        return (
            "Install the version of Canopy that migrated it, or a newer one; or go back: "
            f"{canopy_command()} restore replaces the database, and its tables, with a backup."
        )
    return f"Make a backup, then run: {canopy_command()} migrate"


def of_another_version(found: str) -> str:
    """What is said about tables of another revision, on which this version does not run."""
    if found < FIRST:
        return (
            "The database is of a version of Canopy before 1.0: export its projects with that "
            "version, then import them into an empty database."
        )
    return (
        f"The database has the tables of another version of Canopy ({found}; this one needs "
        f"{newest_revision()}). {advice(found)}"
    )
