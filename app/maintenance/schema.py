"""Which schema a database has, and whether it is the one that this version works with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, inspect

from app.db.migrations import newest_revision
from app.db.snapshots import shown_url
from app.maintenance.errors import MaintenanceError
from app.maintenance.indexes import INDEXED
from app.maintenance.rows import TableCodec, table_codecs, table_codecs_found

MARKER: Final = "canopy_copy"  # the table of a database into which a copy is under way


def revision_of(connection: Connection) -> str | None:
    """The revision of the schema; None when there is none."""
    return MigrationContext.configure(connection).get_current_revision()


def require_current(connection: Connection) -> str:
    """The revision of the schema, which must be the newest.

    Raises:
        MaintenanceError: it is another one, or a copy into this database was not finished.
    """
    found, needed = require_whole(connection), newest_revision()
    if found != needed:
        raise MaintenanceError(
            f"The database {_name(connection)} has the tables of another version of Canopy "
            f"({found}; this one needs {needed}). Make a backup, then run: bin/canopy migrate"
        )
    return found


def require_whole(connection: Connection) -> str:
    """The revision of the schema, whichever it is.

    Raises:
        MaintenanceError: there is none, or a copy into this database was not finished.
    """
    found = revision_of(connection)
    if found is None:
        raise MaintenanceError(
            f"The database {_name(connection)} has no tables yet; bin/canopy migrate makes them."
        )
    if is_half_copied(connection):
        raise MaintenanceError(
            f"A copy into the database {_name(connection)} was begun and not finished; "
            "run copy-database again to finish it."
        )
    return found


def layouts_of(connection: Connection) -> list[TableCodec]:
    """The tables of the database, also when it is of an older or newer version than this."""
    if revision_of(connection) == newest_revision():
        return table_codecs()
    names = set(inspect(connection).get_table_names()) - {"alembic_version"}
    return table_codecs_found(connection, sorted(names - set(_tables_of_indexes(names))))


def is_half_copied(connection: Connection) -> bool:
    """Whether a copy into this database was begun and not finished."""
    return inspect(connection).has_table(MARKER)


def tables_of_others(connection: Connection) -> list[str]:
    """Tables that are none of Canopy's."""
    found = set(inspect(connection).get_table_names())
    ours = {layout.name for layout in table_codecs()} | {MARKER, "alembic_version"}
    return sorted(found - ours - set(_tables_of_indexes(found)))


def _tables_of_indexes(names: Iterable[str]) -> Iterator[str]:
    """Those in which SQLite keeps an index of its own kind."""
    prefixes = tuple(f"{table}_{kind}" for table in INDEXED for kind in ("text", "box"))
    return (name for name in names if name.startswith(prefixes))


def _name(connection: Connection) -> str:
    return shown_url(connection.engine.url)
