"""The revision and the tables of a database, and checks that this version can use it."""

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
_EXTENSION_TABLES: Final = (
    "SELECT relname FROM pg_class JOIN pg_depend ON classid = 'pg_class'::regclass"
    " AND objid = pg_class.oid AND deptype = 'e'"
)


def require_current(connection: Connection) -> None:
    """Raise MaintenanceError unless the revision is the newest, and the database no unfinished
    copy."""
    revision = require_whole(connection)
    if revision != newest_revision():
        raise MaintenanceError(f"{of_another_version(revision)} ({_database_name(connection)})")


def require_whole(connection: Connection) -> str:
    """The revision of the database. Raises MaintenanceError without tables, or for an unfinished
    copy."""
    revision = revision_of(connection)
    if revision is None:
        raise MaintenanceError(
            f"The database {_database_name(connection)} has no tables yet; run "
            f"{canopy_command()} migrate first."
        )
    if is_half_copied(connection):
        raise MaintenanceError(
            f"A copy into the database {_database_name(connection)} was not finished; "
            f"run {canopy_command()} copy-database again."
        )
    return revision


def codecs_of(connection: Connection) -> list[TableCodec]:
    """The codecs of the database's tables, also of another version."""
    if revision_of(connection) == newest_revision():
        return table_codecs()
    names = set(inspect(connection).get_table_names()) - {"alembic_version"}
    return table_codecs_found(connection, sorted(names - set(_index_tables(names))))


def codecs_at(revision: str) -> list[TableCodec]:
    """The codecs of the tables of a revision, for lines of either database. Needs an app context.

    Raises CannotMigrate if this version does not know the revision.
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
    """The names of all tables of Canopy, without the search indexes' tables.

    In a database of a newer version, whose tables are not known, they are all tables except those
    of PostgreSQL's extensions.

    Args:
        others: names of tables that will be created.
    """
    names = set(inspect(connection).get_table_names())
    if (revision_of(connection) or "") > newest_revision():
        return sorted(names - set(_index_tables(names)) - _extension_tables(connection))
    ours = {codec.name for codec in table_codecs()} | {"alembic_version", *others}
    return sorted(names & ours)


def is_half_copied(connection: Connection) -> bool:
    """True if this database has an unfinished copy."""
    return inspect(connection).has_table(MARKER)


def tables_of_others(connection: Connection) -> list[str]:
    """The names of tables that do not belong to Canopy."""
    names = set(inspect(connection).get_table_names())
    ours = {codec.name for codec in table_codecs()} | {MARKER, "alembic_version"}
    return sorted(names - ours - set(_index_tables(names)))


def _extension_tables(connection: Connection) -> set[str]:
    if connection.dialect.name != "postgresql":
        return set()
    return set(connection.exec_driver_sql(_EXTENSION_TABLES).scalars())


def _index_tables(names: Iterable[str]) -> Iterator[str]:
    """The tables in which SQLite stores its search and box indexes."""
    prefixes = tuple(f"{pair.name}_{kind}" for pair in INDEXES for kind in ("text", "box"))
    return (name for name in names if name.startswith(prefixes))


def _database_name(connection: Connection) -> str:
    return shown_url(connection.engine.url)
