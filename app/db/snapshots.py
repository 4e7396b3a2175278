"""Work on a whole database: reading a snapshot of it, or replacing its rows.

These connections, unlike the application's, have no time limits, as a backup may take long. On
SQLite they read without the writers' lock.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import psycopg
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from app.db.postgresql.connection import NETWORK_LIMITS, set_statement
from config import Settings

WAIT_SECONDS: Final = 30  # for writers to finish
_ATTEMPTS: Final = 5
_DEADLOCK: Final = "40P01"
_MIN_SPACE: Final = 64 * 1024  # bytes that SQLite needs to begin its log
_FULL_DISK_CODES: Final = (
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL),
)

# The errors of statements and of COPY.
DATABASE_ERRORS: Final = (SQLAlchemyError, psycopg.Error)


def database_url(settings: Settings) -> URL:
    """Return the URL of the service's database."""
    return make_url(settings.database_url)


def shown_url(url: URL) -> str:
    """Return a URL as text, without its passwords."""
    without_passwords = url.difference_update_query(["password", "sslpassword"])
    return without_passwords.render_as_string(hide_password=True)


def may_exist(url: URL) -> bool:
    """False if the database is a file that does not exist."""
    return url.get_backend_name() != "sqlite" or Path(url.database or "").exists()


def error_reason(error: BaseException, url: URL | None = None) -> str:
    """Return the database's own error message, in one line.

    Args:
        url: URL of the database, to recognize a full disk, for which SQLite has other messages.
    """
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", 0) & 0xFF
    if url is not None and code in _FULL_DISK_CODES and _is_disk_full(url):
        return "its disk is full"
    text = str(getattr(error, "orig", None) or error).strip()
    return (text.splitlines() or [type(error).__name__])[0].rstrip(".")


def _is_disk_full(url: URL) -> bool:
    folder = Path(url.database or "").parent
    with suppress(OSError):
        return shutil.disk_usage(folder).free < _MIN_SPACE
    return False


@contextmanager
def open_snapshot(url: URL) -> Iterator[Connection]:
    """Open a connection that reads the database as it is now, whatever is written meanwhile. It
    blocks no writers.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the database cannot be reached, or does not exist.
    """
    with _snapshot_engine(url, begin="BEGIN") as engine, engine.connect() as connection:
        if url.get_backend_name() == "sqlite":
            _run_pragma(connection, "query_only=ON")
            first_read = "SELECT count(*) FROM sqlite_schema"
        else:
            connection = connection.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            first_read = "SELECT 1"
        connection.exec_driver_sql(first_read)  # begins the snapshot
        yield connection


@contextmanager
def exclusive_writer(
    url: URL, tables: Sequence[str], *, create: bool = False
) -> Iterator[Connection]:
    """Open a transaction during which no other one writes to the tables. It is committed at the end
    of the block, and rolled back if the block raises; until then readers see the state before it.
    SQLite checks no foreign keys; use ``PRAGMA foreign_key_check``.

    Args:
        create: create a SQLite file that does not exist.

    Raises:
        sqlalchemy.exc.OperationalError: other writers did not finish within 30 seconds.
    """
    with _snapshot_engine(url, create=create) as engine, engine.connect() as connection:
        if url.get_backend_name() == "postgresql" and tables:
            _lock_tables(connection, tables)
        yield connection
        connection.commit()


@contextmanager
def exclusive_file(url: URL) -> Iterator[Connection | None]:
    """Open a connection for many transactions on a database that nobody else uses; None if somebody
    does.

    On SQLite the whole file is locked. On PostgreSQL an advisory lock keeps out only other callers
    of this function. A separate transaction holds it, as pgbouncer may give each transaction
    another connection.
    """
    with _snapshot_engine(url) as engine, engine.connect() as connection:
        if url.get_backend_name() == "sqlite":
            yield connection if _lock_file(connection) else None
            return
        with engine.connect() as holder:
            lock = "SELECT pg_try_advisory_xact_lock(7310242)"
            is_locked = holder.exec_driver_sql(lock).scalar_one()
            yield connection if is_locked else None


@contextmanager
def open_transaction(url: URL) -> Iterator[Connection]:
    """Open a transaction on a database. A SQLite file that does not exist is created."""
    with _snapshot_engine(url, create=True) as engine, engine.begin() as connection:
        yield connection


def refresh_statistics(url: URL) -> None:
    """Update PostgreSQL's statistics, after many rows were replaced."""
    if url.get_backend_name() == "postgresql":
        with open_transaction(url) as connection:
            connection.exec_driver_sql("ANALYZE")


@contextmanager
def _snapshot_engine(
    url: URL, *, begin: str = "BEGIN IMMEDIATE", create: bool = False
) -> Iterator[Engine]:
    if url.get_backend_name() == "sqlite":
        engine = _sqlite_engine(url, begin, "rwc" if create else "rw")
    else:
        engine = _postgresql_engine(url)
    try:
        yield engine
    finally:
        engine.dispose()


def _postgresql_engine(url: URL) -> Engine:
    """Make an engine that works behind pgbouncer: each transaction sets its limits itself, and no
    statement is prepared."""
    # A server that is busy with many rows may not read from the network for a while.
    others = {*url.query, "tcp_user_timeout"}
    limits = {name: value for name, value in NETWORK_LIMITS.items() if name not in others}
    parameters = limits | {"prepare_threshold": None}
    engine = create_engine(url, poolclass=NullPool, connect_args=parameters)
    values = {
        "statement_timeout": "0",
        "lock_timeout": f"{WAIT_SECONDS}s",
        "idle_in_transaction_session_timeout": "0",
        "timezone": "UTC",
    }
    event.listen(engine, "begin", lambda begun: begun.exec_driver_sql(set_statement(values, True)))
    return engine


def _sqlite_engine(url: URL, begin: str, mode: str) -> Engine:
    """Make an engine. With mode ``rw`` a missing file is an error; ``rwc`` creates it."""
    path = quote(str(Path(url.database or "").absolute()))

    def open_file() -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{path}?mode={mode}", uri=True, timeout=WAIT_SECONDS, isolation_level=None
        )
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("PRAGMA synchronous=FULL")
        return connection

    engine = create_engine(url, poolclass=NullPool, creator=open_file)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def _run_pragma(connection: Connection, setting: str) -> Any:
    """Run a PRAGMA outside a transaction, as most of them require."""
    driver: Any = connection.connection.driver_connection
    return driver.execute(f"PRAGMA {setting}").fetchone()


def _lock_file(connection: Connection) -> bool:
    """Lock the file until the connection is closed. Returns False if somebody else uses it."""
    _run_pragma(connection, "busy_timeout=2000")
    _run_pragma(connection, "locking_mode=EXCLUSIVE")
    try:
        _run_pragma(connection, "journal_mode=WAL")
        connection.exec_driver_sql("PRAGMA user_version=0")  # a write that changes nothing
        connection.commit()
    except (OperationalError, sqlite3.OperationalError) as error:
        if "locked" not in str(error):
            raise
        return False
    return True


def _lock_tables(connection: Connection, tables: Sequence[str]) -> None:
    """Lock tables in EXCLUSIVE mode, in which SELECT FOR UPDATE, with which changes begin, waits.

    The tables are locked one by one. If a writer uses them in another order, there is a deadlock,
    after which this tries again.
    """
    quote_name = connection.dialect.identifier_preparer.quote
    names = ", ".join(quote_name(name) for name in tables)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            connection.exec_driver_sql(f"LOCK TABLE {names} IN EXCLUSIVE MODE")
            return
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != _DEADLOCK or attempt == _ATTEMPTS:
                raise
            connection.rollback()
