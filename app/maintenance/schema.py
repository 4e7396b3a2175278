"""The revision of a database's schema, and the checks that this version can use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from sqlalchemy import Connection, inspect

from app.db.migrations import newest_revision, revision_of
from app.db.snapshots import shown_url
from app.maintenance import MaintenanceError
from app.maintenance.indexes import INDEXES
from app.maintenance.rows import TableCodec, table_codecs, table_codecs_found
from app.values.command_name import canopy_command

MARKER: Final = "canopy_copy"  # a table that marks a database with an unfinished copy


def require_current(connection: Connection) -> None:
    """Check that the revision of the schema is the newest.

    Raises:
        MaintenanceError: it is another one, or a copy into this database was not finished.
    """
    found, needed = require_whole(connection), newest_revision()
    if found != needed:
        raise MaintenanceError(
            f"The database {_name(connection)} has the tables of another version of Canopy "
            f"({found}; this one needs {needed}). Make a backup, then run: "
            f"{canopy_command()} migrate"
        )


def require_whole(connection: Connection) -> str:
    """The revision of the schema, newest or not.

    Raises:
        MaintenanceError: there is none, or a copy into this database was not finished.
    """
    found = revision_of(connection)
    if found is None:
        raise MaintenanceError(
            f"The database {_name(connection)} has no tables yet; run "
            f"{canopy_command()} migrate first."
        )
    if is_half_copied(connection):
        raise MaintenanceError(
            f"A copy into the database {_name(connection)} was not finished; "
            f"run {canopy_command()} copy-database again."
        )
    return found


def codecs_of(connection: Connection) -> list[TableCodec]:
    """The codecs of the database's tables, also when another version made them."""
    if revision_of(connection) == newest_revision():
        return table_codecs()
    names = set(inspect(connection).get_table_names()) - {"alembic_version"}
    return table_codecs_found(connection, sorted(names - set(_tables_of_indexes(names))))


def is_half_copied(connection: Connection) -> bool:
    """True if this database has an unfinished copy."""
    return inspect(connection).has_table(MARKER)


def tables_of_others(connection: Connection) -> list[str]:
    """The names of tables that do not belong to Canopy."""
    found = set(inspect(connection).get_table_names())
    ours = {codec.name for codec in table_codecs()} | {MARKER, "alembic_version"}
    return sorted(found - ours - set(_tables_of_indexes(found)))


def _tables_of_indexes(names: Iterable[str]) -> Iterator[str]:
    """The tables in which SQLite stores its search and box indexes."""
    prefixes = tuple(f"{pair.name}_{kind}" for pair in INDEXES for kind in ("text", "box"))
    return (name for name in names if name.startswith(prefixes))


def _name(connection: Connection) -> str:
    return shown_url(connection.engine.url)
