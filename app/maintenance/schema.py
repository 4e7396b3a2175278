"""The revision of a database's schema, and the checks that this version can use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from sqlalchemy import Connection, create_engine, inspect

from app.db.migrations import apply_revisions
from app.db.revisions import newest_revision, of_another_version, revision_of
from app.db.snapshots import shown_url
from app.maintenance import MaintenanceError
from app.maintenance.sqlite_indexes import INDEXES
from app.maintenance.table_codec import TableCodec, table_codecs, table_codecs_found
from app.values.command_name import canopy_command

MARKER: Final = "canopy_copy"  # a table that marks a database with an unfinished copy
_OF_EXTENSIONS: Final = (
    "SELECT relname FROM pg_class JOIN pg_depend ON classid = 'pg_class'::regclass"
    " AND objid = pg_class.oid AND deptype = 'e'"
)


def require_current(connection: Connection) -> None:
    """Check that the revision of the schema is the newest.

    Raises:
        MaintenanceError: it is another one, or a copy into this database was not finished.
    """
    found = require_whole(connection)
    if found != newest_revision():
        raise MaintenanceError(f"{of_another_version(found)} ({_name(connection)})")


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


def codecs_at(revision: str) -> list[TableCodec]:
    """The codecs of the tables as a revision leaves them. Needs an app context.

    They are those of SQLite, and read and insert lines of either database.

    Raises:
        CannotMigrate: this version does not know the revision.
    """
    if revision == newest_revision():
        return table_codecs()
    engine = create_engine("sqlite://")
    try:
        with engine.begin() as connection:
            apply_revisions(connection, revision)
            return codecs_of(connection)
    finally:
        engine.dispose()


def tables_to_drop(connection: Connection, others: Iterable[str]) -> list[str]:
    """The names of all tables of Canopy, without those of indexes. Which tables a newer version has
    is not known: where one has migrated the database, all others are taken for its own, but for
    those of PostgreSQL's extensions.

    Args:
        others: those that the tables to be made are called.
    """
    found = set(inspect(connection).get_table_names())
    ours = {codec.name for codec in table_codecs()} | {"alembic_version", *others}
    names = found & ours
    if (revision_of(connection) or "") > newest_revision():
        names = found - set(_tables_of_indexes(found)) - _of_extensions(connection)
    return sorted(names)


def is_half_copied(connection: Connection) -> bool:
    """True if this database has an unfinished copy."""
    return inspect(connection).has_table(MARKER)


def tables_of_others(connection: Connection) -> list[str]:
    """The names of tables that do not belong to Canopy."""
    found = set(inspect(connection).get_table_names())
    ours = {codec.name for codec in table_codecs()} | {MARKER, "alembic_version"}
    return sorted(found - ours - set(_tables_of_indexes(found)))


def _of_extensions(connection: Connection) -> set[str]:
    if connection.dialect.name != "postgresql":
        return set()
    return set(connection.exec_driver_sql(_OF_EXTENSIONS).scalars())


def _tables_of_indexes(names: Iterable[str]) -> Iterator[str]:
    """The tables in which SQLite stores its search and box indexes."""
    prefixes = tuple(f"{pair.name}_{kind}" for pair in INDEXES for kind in ("text", "box"))
    return (name for name in names if name.startswith(prefixes))


def _name(connection: Connection) -> str:
    return shown_url(connection.engine.url)
