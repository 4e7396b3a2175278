"""The engines for the database, SQLite or PostgreSQL.

``db.session`` is for changes: one transaction, which the edge (route, job, command) commits. On
SQLite it begins with ``BEGIN IMMEDIATE``: whoever is going to write waits for the lock at the
beginning, where waiting works, and not in the middle, where SQLite can only give up; they queue up
for it (``app.db.write_queue``). Reading outside a change goes another way: ``app.db.queries``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from flask import Flask, current_app
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
from app.values import processor_clock
from config import Settings

# SQLite's pages in memory: of a connection, and about as much in a process, for all its connections
# together. Beyond, they come from the system's cache, and a change makes a connection forget its
# pages anyway.
_CACHE_KIB: Final = 4_000
_HEAP_BYTES: Final = 16 * 1024 * 1024

# SQLAlchemy's InvalidRequestError, when two connections in a row were refused at their checkout.
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


def engine_options(settings: Settings) -> dict[str, Any]:
    """Options of both engines, for changes and for reading.

    A thread holds one connection of each at most. Errors are logged, and do not name what was
    written: parameters are hidden.

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
    """Bind the session and the reading connections to ``app``, by the rules above."""
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
                postgresql.prepare(engine, settings, server, check_tables=check_tables)
            refuse_unconfirmed(db.engine, reading_engine, settings)
        for engine in (db.engine, reading_engine):
            event.listen(engine, "handle_error", lambda _: processor_clock.raise_refusal())


@contextmanager
def without_waiting() -> Iterator[Connection]:
    """A connection for a small write that may as well not happen, and that a power cut may undo.

    A statement that finds the database, or its table, locked fails at once, with OperationalError.
    """
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
            timeout = current_app.config["SETTINGS"].database_timeout_ms
            connection.exec_driver_sql(f"PRAGMA busy_timeout={timeout}")
            connection.exec_driver_sql("PRAGMA synchronous=FULL")


def is_outage(error: BaseException) -> bool:
    """Return whether the database is gone, locked or overloaded, rather than the statement
    wrong."""
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
    return isinstance(error, OperationalError)  # there was no connection to answer with a code


def violated_constraint(error: IntegrityError) -> str:
    """The name of the constraint that a statement would have broken. SQLite names the columns of a
    unique one instead: ``projects.account_id, projects.slug``."""
    diagnosis = getattr(error.orig, "diag", None)
    if diagnosis is not None:
        return diagnosis.constraint_name or ""
    return str(error.orig).partition("UNIQUE constraint failed: ")[2]


def _prepare_sqlite(connection: QueuedConnection, _: object) -> None:
    connection.check_every()
    connection.isolation_level = None  # this module begins transactions, not the driver
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # what anybody sees is on the disk
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA recursive_triggers=ON")
    cursor.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
    cursor.execute(f"PRAGMA soft_heap_limit={_HEAP_BYTES}")
    cursor.execute("PRAGMA journal_size_limit=67108864")  # what a busy hour leaves of the log
    cursor.close()


def _prepare_for_changes(connection: QueuedConnection, _: object) -> None:
    # What a statement needs to undo itself would go into a file from 64 KB on, which takes as long
    # as the rest of a project's INSERT. Reading keeps its files: sorts can be large.
    connection.execute("PRAGMA temp_store=MEMORY")
    join_queue(connection)


def _begin_immediately(check: TablesCheck, connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    with driver.queued():
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    try:
        found = driver.execute(VERSION).fetchone()
    except sqlite3.OperationalError as error:
        driver.rollback()
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise OperationalError(VERSION, {}, error) from error
        found = None  # no such table or column
    try:
        check(found)
    except OperationalError:
        driver.rollback()
        raise


def insert_into(model: type[Base]) -> Any:
    """An INSERT that can have an ON CONFLICT: each database has its own."""
    is_sqlite = db.engine.dialect.name == "sqlite"
    dialect: Any = sqlite if is_sqlite else postgresql_dialect
    return dialect.insert(model)
