"""Checks of the database: its server, schema, integrity and clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Connection

from app.db.revisions import is_supported_by, newest_revision, revision_advice, revision_of
from app.db.snapshots import shown_url
from app.doctor.findings import Finding, ok, problem, warning
from app.maintenance.schema import is_half_copied
from app.maintenance.sqlite_indexes import count_faults
from app.values.command_name import canopy_command

MAX_CLOCK_DIFFERENCE: Final = 1.0  # seconds
_OLDEST_POSTGRESQL: Final = 13
_FROM_BACKUP: Final = "Stop the service, check the disk for errors, and restore a backup."


def check_database_server(connection: Connection) -> Iterator[Finding]:
    """Report the server, its version and its encoding."""
    url = shown_url(connection.engine.url)
    if connection.dialect.name == "sqlite":
        version = _select_one(connection, "SELECT sqlite_version()")
        yield ok(f"SQLite {version}, {url}")
        return
    version = _select_one(connection, "SHOW server_version")
    number = int(_select_one(connection, "SHOW server_version_num")) // 10_000
    if number < _OLDEST_POSTGRESQL:
        yield problem(
            f"PostgreSQL {version}, {url}", f"Use PostgreSQL {_OLDEST_POSTGRESQL} or newer."
        )
    else:
        yield ok(f"PostgreSQL {version}, {url}")
    encoding = _select_one(connection, "SHOW server_encoding")
    if encoding != "UTF8":
        yield problem(
            f"The database has the encoding {encoding}",
            "Create one with ENCODING 'UTF8', and move to it with "
            f"{canopy_command()} copy-database.",
        )


def check_schema(connection: Connection) -> Iterator[Finding]:
    """Check that the tables fit this version, and no copy is unfinished."""
    revision, needed = revision_of(connection), newest_revision()
    if revision == needed:
        yield ok(f"revision {revision}, the newest")
    elif revision is None:
        yield problem("The database has no tables", f"Run: {canopy_command()} migrate")
    elif is_supported_by(connection):
        yield warning(
            f"The tables are of revision {revision}, those of a newer version; this one runs on "
            "them",
            "Install the newer version on this machine, too.",
        )
    else:
        yield problem(
            f"The tables are of revision {revision}; this version of Canopy needs {needed}",
            revision_advice(revision),
        )
    if is_half_copied(connection):
        yield problem(
            "A copy into this database was not finished",
            f"Run {canopy_command()} copy-database again, with the same settings as before.",
        )


def check_integrity(connection: Connection) -> Iterator[Finding]:
    """Check a SQLite file for damage. PostgreSQL has its own tools."""
    if connection.dialect.name != "sqlite":
        yield ok("not checked; PostgreSQL has its own tools")
        return
    mode = _select_one(connection, "PRAGMA journal_mode")
    if mode != "wal":
        yield problem(
            f"journal_mode is {mode}: readers and writers block each other",
            "The service sets it to WAL when it starts. If it stays, use a local disk.",
        )
    faults = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA quick_check(5)")]
    if faults != ["ok"]:
        yield problem(f"quick_check: {'; '.join(faults)}", _FROM_BACKUP)
        return
    dangling = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(5)
    if dangling:
        rows = ", ".join(f"{table} row {row} (no {parent})" for table, row, parent, _ in dangling)
        yield problem(f"Rows refer to rows that do not exist: {rows}", "Delete these rows.")
    if mode == "wal" and not dangling:
        yield ok("journal_mode WAL, quick_check and foreign_key_check find nothing")


def check_indexes(connection: Connection) -> Iterator[Finding]:
    """Check that the search and box indexes of SQLite have as many rows as their tables."""
    faults = count_faults(connection) if connection.dialect.name == "sqlite" else []
    if faults:
        yield problem("; ".join(faults), f"Run: {canopy_command()} doctor --repair")
    else:
        yield ok("the search and box indexes match their tables")


def check_clock(connection: Connection) -> Iterator[Finding]:
    """Compare the clocks of the database and this machine. SQLite has no clock."""
    if connection.dialect.name == "sqlite":
        yield ok("SQLite uses the clock of this machine")
        return
    seconds = float(
        _select_one(connection, "SELECT extract(epoch FROM pg_catalog.clock_timestamp())")
    )
    yield compare_clock("the database", seconds)


def compare_clock(owner: str, seconds: float) -> Finding:
    """Compare a server's time, in seconds since 1970, with this machine's."""
    difference = seconds - time.time()
    direction = "ahead" if difference > 0 else "behind"
    sentence = f"{owner}'s clock is {abs(difference):.1f} s {direction}"
    if abs(difference) > MAX_CLOCK_DIFFERENCE:
        return warning(sentence, "Synchronize the clocks of both machines with NTP.")
    return ok(sentence)


def _select_one(connection: Connection, statement: str) -> Any:
    return connection.exec_driver_sql(statement).scalar_one()
