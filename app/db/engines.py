"""The engines for the database, SQLite or PostgreSQL.

``db.session`` is for changes: one transaction, which the edge (route, job, command) commits. On
SQLite it begins with ``BEGIN IMMEDIATE``, so that it waits for the lock at the beginning, in a
queue (``app.db.write_queue``), and not in the middle, where SQLite can only give up. Reading
outside a change uses ``app.db.queries``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from flask import Flask
from sqlalchemy import Connection, event
from sqlalchemy.dialects import postgresql as postgresql_dialect
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError, InvalidRequestError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.db import queries
from app.db.column_types import Base
from app.db.extensions import db
from app.db.postgresql import connection as postgresql
from app.db.postgresql.connection import VERSION
from app.db.postgresql.failover import KnownServer
from app.db.postgresql.unconfirmed import refuse_unconfirmed
from app.db.revisions import TablesCheck
from app.db.write_queue import QueuedConnection, join_queue
from app.settings.current import current_settings
from app.values import processor_clock
from config import Settings

# SQLite's pages in memory: for a connection, and for all connections of a process. Beyond, they
# come from the system's cache; a change makes a connection forget its pages anyway.
_CACHE_KIB: Final = 4_000
_HEAP_BYTES: Final = 16 * 1024 * 1024

# SQLAlchemy's InvalidRequestError after two connections in a row were refused at their checkout.
_CLOSED_AGAIN: Final = "This connection is closed"
# Classes of SQLSTATE: connection, resources, lock not available, operator intervention, system
# error, rollback (deadlock), read-only.
_OUTAGE_STATES: Final = ("08", "53", "55", "57", "58", "40", "25006")
# SQLite's primary result codes (https://www.sqlite.org/rescode.html): its file, disk or lock.
_OUTAGE_CODES: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)

# A change cannot be stored: the disk is full or has an error, or the database is read-only.
_STORAGE_STATES: Final = ("53100", "58030", "25006")
_STORAGE_CODES: Final = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN}
)


def engine_options(settings: Settings) -> dict[str, Any]:
    """Return the options of both engines, for changes and for reading. A thread has at most one
    connection of each. Parameters are hidden, as errors are logged.

    Raises:
        config.SettingsError: DATABASE_URL cannot be used.
    """
    if settings.uses_sqlite:
        return {
            "hide_parameters": True,
            "pool_size": settings.web_threads + 2,
            "connect_args": {
                "timeout": settings.database_timeout_ms / 1000,
                "factory": QueuedConnection,
            },
        }
    return postgresql.engine_options(settings)


def init_app(app: Flask) -> None:
    """Bind the session and the reading connections to ``app``."""
    db.init_app(app)
    settings: Settings = app.config["SETTINGS"]
    reading_engine = queries.init_app(app, settings.database_url, engine_options(settings))
    check = TablesCheck()
    with app.app_context():
        if db.engine.dialect.name == "sqlite":
            event.listen(db.engine, "connect", _prepare_sqlite)
            event.listen(db.engine, "connect", _prepare_for_changes)
            event.listen(db.engine, "begin", partial(_begin_immediately, check))
            event.listen(reading_engine, "connect", _prepare_sqlite)
        else:
            server = KnownServer()
            for engine in (db.engine, reading_engine):
                check_tables = None if engine is reading_engine else check
                postgresql.limit_connections(engine, settings, server, check_tables=check_tables)
            refuse_unconfirmed(db.engine, reading_engine, settings)
        for engine in (db.engine, reading_engine):
            event.listen(engine, "handle_error", lambda _: processor_clock.raise_refusal())


@contextmanager
def without_waiting() -> Iterator[Connection]:
    """Open a connection for a small write that may be lost, also by a power cut. If the database or
    table is locked, a statement fails at once with OperationalError."""
    # A thread that held one and waited for another could wait for itself.
    queries.release_connection()
    with queries.reading_connection() as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        prepare = _without_waiting if is_sqlite else postgresql.without_waiting
        with prepare(connection) as prepared:
            yield prepared


@contextmanager
def _without_waiting(connection: Connection) -> Iterator[Connection]:
    connection.exec_driver_sql("PRAGMA busy_timeout=0")
    connection.exec_driver_sql("PRAGMA synchronous=NORMAL")
    try:
        yield connection
    finally:
        if not connection.invalidated:
            timeout = current_settings().database_timeout_ms
            connection.exec_driver_sql(f"PRAGMA busy_timeout={timeout}")
            connection.exec_driver_sql("PRAGMA synchronous=FULL")


def is_outage(error: BaseException) -> bool:
    """True if the database is gone, locked or overloaded, and the statement is not wrong."""
    if isinstance(error, PoolTimeout):
        return True
    if isinstance(error, InvalidRequestError):
        return _CLOSED_AGAIN in str(error)
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    if state := getattr(error.orig, "sqlstate", None):
        return bool(state.startswith(_OUTAGE_STATES))
    if code := getattr(error.orig, "sqlite_errorcode", None):
        return code & 0xFF in _OUTAGE_CODES
    return isinstance(error, OperationalError)  # there is no code without a connection


def is_storage_fault(error: BaseException) -> bool:
    """True if the disk of the database is full or has an error, or the database is read-only."""
    cause = getattr(error, "orig", None)
    return (
        getattr(cause, "sqlstate", None) in _STORAGE_STATES
        or getattr(cause, "sqlite_errorcode", 0) & 0xFF in _STORAGE_CODES
    )


def violated_constraint(error: IntegrityError) -> str:
    """Return the name of the violated constraint. For a unique one SQLite has its columns instead:
    ``projects.account_id, projects.slug``."""
    diagnosis = getattr(error.orig, "diag", None)
    if diagnosis is not None:
        return diagnosis.constraint_name or ""
    return str(error.orig).partition("UNIQUE constraint failed: ")[2]


def _prepare_sqlite(connection: QueuedConnection, _: object) -> None:
    connection.check_every()
    connection.isolation_level = None  # this module begins transactions, not the driver
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # whatever anybody reads is on the disk
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA recursive_triggers=ON")
    cursor.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
    cursor.execute(f"PRAGMA soft_heap_limit={_HEAP_BYTES}")
    cursor.execute("PRAGMA journal_size_limit=67108864")  # the log may have grown in a busy hour
    cursor.close()


def _prepare_for_changes(connection: QueuedConnection, _: object) -> None:
    # A statement's own rollback journal would be a file from 64 KB on, which takes as long as the
    # rest of a project's INSERT. Reading connections keep such files, as sorts can be large.
    connection.execute("PRAGMA temp_store=MEMORY")
    join_queue(connection)


def _begin_immediately(check: TablesCheck, connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    with driver.queued():
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    try:
        version = driver.execute(VERSION).fetchone()
    except sqlite3.OperationalError as error:
        driver.rollback()
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise OperationalError(VERSION, {}, error) from error
        version = None  # no such table or column
    try:
        check(version)
    except OperationalError:
        driver.rollback()
        raise


def insert_into(model: type[Base]) -> Any:
    """Return an INSERT that can have an ON CONFLICT, which differs by database."""
    is_sqlite = db.engine.dialect.name == "sqlite"
    dialect: Any = sqlite if is_sqlite else postgresql_dialect
    return dialect.insert(model)
