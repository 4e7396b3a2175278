"""Work on a whole database: reading a snapshot of it, or replacing its rows.

The connections are not those of the application: they have none of its time limits, as a backup
may take long, and on SQLite they read without the lock that writers need.
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

WAIT_SECONDS: Final = 30  # for writers to finish, before a lock on them fails
_ATTEMPTS: Final = 5
_DEADLOCK: Final = "40P01"
_LEAST_SPACE: Final = 64 * 1024  # bytes, which SQLite needs to begin its log
_OF_FULL_DISK: Final = (  # what SQLite may say then
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL),
)

# The errors of statements and of COPY.
DATABASE_ERRORS: Final = (SQLAlchemyError, psycopg.Error)


def database_url(settings: Settings) -> URL:
    """The address of the service's database."""
    return make_url(settings.database_url)


def shown_url(url: URL) -> str:
    """The address without its password."""
    shown = url.difference_update_query(["password", "sslpassword"])
    return shown.render_as_string(hide_password=True)


def may_exist(url: URL) -> bool:
    """False when the database is a file that is not there."""
    return url.get_backend_name() != "sqlite" or Path(url.database or "").exists()


def error_reason(error: BaseException, url: URL | None = None) -> str:
    """The database's own error message, in one line.

    Args:
        url: of the database, if a full disk, which SQLite tells as something else, is to be told.
    """
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", 0) & 0xFF
    if url is not None and code in _OF_FULL_DISK and _is_disk_full(url):
        return "its disk is full"
    text = str(getattr(error, "orig", None) or error).strip()
    return (text.splitlines() or [type(error).__name__])[0].rstrip(".")


def _is_disk_full(url: URL) -> bool:
    folder = Path(url.database or "").parent
    with suppress(OSError):
        return shutil.disk_usage(folder).free < _LEAST_SPACE
    return False


@contextmanager
def snapshot(url: URL) -> Iterator[Connection]:
    """A connection that reads the database as it is now, whatever is written meanwhile.

    It blocks no writers; on SQLite its write-ahead log makes that possible.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the database cannot be reached, or does not exist.
    """
    with _engine(url, begin="BEGIN") as engine, engine.connect() as connection:
        if url.get_backend_name() == "sqlite":
            _pragma(connection, "query_only=ON")
            first_read = "SELECT count(*) FROM sqlite_schema"
        else:
            connection = connection.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            first_read = "SELECT 1"
        connection.exec_driver_sql(first_read)  # it begins the snapshot, on both databases
        yield connection


@contextmanager
def exclusive_writer(
    url: URL, tables: Sequence[str], *, create: bool = False
) -> Iterator[Connection]:
    """A transaction during which no other one writes to the tables. It is committed at the end of
    the block, and rolled back when the block raises; until then readers see the state before it.

    Args:
        create: create a SQLite file that does not exist.

    SQLite checks no foreign keys meanwhile; use ``PRAGMA foreign_key_check``.

    Raises:
        sqlalchemy.exc.OperationalError: other writers did not finish within 30 seconds.
    """
    with _engine(url, create=create) as engine, engine.connect() as connection:
        if url.get_backend_name() == "postgresql" and tables:
            _lock_tables(connection, tables)
        yield connection
        connection.commit()


@contextmanager
def exclusive_file(url: URL) -> Iterator[Connection | None]:
    """A connection for many transactions on a database that is in no other use; None when it is.

    On SQLite the whole file is locked. On PostgreSQL an advisory lock keeps out other callers of
    this function only; a transaction of its own holds it, as pgbouncer may give each transaction
    another connection.
    """
    with _engine(url) as engine, engine.connect() as connection:
        if url.get_backend_name() == "sqlite":
            yield connection if _lock_file(connection) else None
            return
        with engine.connect() as holder:
            lock = "SELECT pg_try_advisory_xact_lock(7310242)"
            is_locked = holder.exec_driver_sql(lock).scalar_one()
            yield connection if is_locked else None


@contextmanager
def open_transaction(url: URL) -> Iterator[Connection]:
    """A transaction on a database; a SQLite file that does not exist is created."""
    with _engine(url, create=True) as engine, engine.begin() as connection:
        yield connection


def refresh_statistics(url: URL) -> None:
    """Update PostgreSQL's statistics, after many rows were replaced."""
    if url.get_backend_name() == "postgresql":
        with open_transaction(url) as connection:
            connection.exec_driver_sql("ANALYZE")


@contextmanager
def _engine(url: URL, *, begin: str = "BEGIN IMMEDIATE", create: bool = False) -> Iterator[Engine]:
    if url.get_backend_name() == "sqlite":
        engine = _sqlite_engine(url, begin, "rwc" if create else "rw")
    else:
        engine = _postgresql_engine(url)
    try:
        yield engine
    finally:
        engine.dispose()


def _postgresql_engine(url: URL) -> Engine:
    """Each transaction sets its limits itself, and none prepares a statement: pgbouncer, if it is
    between, refuses ``options``, and its transactions share connections."""
    # A server that is busy with many rows may not read for a while.
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
    """``mode`` as in SQLite's URIs: with ``rw`` a missing file is an error, ``rwc`` creates it."""
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


def _pragma(connection: Connection, setting: str) -> Any:
    """Run a PRAGMA outside a transaction, where most of them have to be run."""
    driver: Any = connection.connection.driver_connection
    return driver.execute(f"PRAGMA {setting}").fetchone()


def _lock_file(connection: Connection) -> bool:
    """Keep the lock of the first write until the connection is closed."""
    _pragma(connection, "busy_timeout=2000")
    _pragma(connection, "locking_mode=EXCLUSIVE")
    try:
        _pragma(connection, "journal_mode=WAL")
        connection.exec_driver_sql("PRAGMA user_version=0")  # a write that changes nothing
        connection.commit()
    except (OperationalError, sqlite3.OperationalError) as error:
        if "locked" not in str(error):
            raise
        return False
    return True


def _lock_tables(connection: Connection, tables: Sequence[str]) -> None:
    """In EXCLUSIVE mode, which makes SELECT FOR UPDATE wait too: changes begin with it.

    The tables are locked one after the other; a writer that uses them in another order causes a
    deadlock, after which this tries again.
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
