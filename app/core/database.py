"""How the service talks to its database, SQLite or PostgreSQL.

Two ways in:

* ``db.session`` for changes: one transaction, which the edge (route, job, command) commits. On
  SQLite it begins with ``BEGIN IMMEDIATE``: whoever is going to write waits for the lock at the
  beginning, where waiting works, and not in the middle, where SQLite can only give up.
* ``reader()`` for reading outside a change: one connection a request, each statement on its own,
  no transaction to open or end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask, current_app, g
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.extensions import db
from config import Settings

_READER = "canopy_reader"


def engine_options(settings: Settings) -> dict[str, Any]:
    """Options of ``create_engine``. A web process never waits for a pooled connection."""
    if settings.uses_sqlite:
        return {
            "pool_size": settings.web_threads + 1,
            "connect_args": {"timeout": settings.database_timeout_ms / 1000},
        }
    return {
        "pool_size": settings.database_pool_size,
        "pool_timeout": settings.database_timeout_ms / 1000,
        "connect_args": {
            "connect_timeout": 3,
            "options": f"-c statement_timeout={settings.database_timeout_ms}"
            f" -c lock_timeout={settings.database_timeout_ms} -c timezone=UTC",
            "prepare_threshold": 2,
        },
    }


def init_app(app: Flask) -> None:
    """Bind the session to ``app`` and teach its engine the rules above."""
    db.init_app(app)
    with app.app_context():
        if db.engine.dialect.name == "sqlite":
            event.listen(db.engine, "connect", _prepare_sqlite)
            event.listen(db.engine, "begin", _begin_sqlite)
    app.teardown_appcontext(lambda _: release_reader())


def reader() -> Connection:
    """The request's connection for reading; each statement stands alone."""
    connection: Connection | None = g.get(_READER)
    if connection is None:
        connection = _autocommit(db.engine).connect()
        setattr(g, _READER, connection)
    return connection


def release_reader() -> None:
    """Give the reading connection back, before a change opens its own."""
    connection: Connection | None = g.pop(_READER, None)
    if connection is not None:
        connection.close()


@contextmanager
def without_waiting() -> Iterator[Connection]:
    """The reading connection, for a small write that may as well not happen.

    On SQLite a statement that finds the database locked fails at once, with OperationalError.
    """
    connection = reader()
    if connection.dialect.name != "sqlite":
        yield connection
        return
    connection.exec_driver_sql("PRAGMA busy_timeout=0")
    try:
        yield connection
    finally:
        timeout = current_app.config["SETTINGS"].database_timeout_ms
        connection.exec_driver_sql(f"PRAGMA busy_timeout={timeout}")


def is_outage(error: BaseException) -> bool:
    """Whether the database is gone, locked or overloaded, rather than the statement wrong."""
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated or isinstance(error, OperationalError):
        return True
    state = getattr(error.orig, "sqlstate", None) or ""
    return state.startswith(("08", "53", "55", "57", "40"))


def _autocommit(engine: Engine) -> Engine:
    if engine.dialect.name == "sqlite":
        return engine.execution_options(canopy_autocommit=True)
    return engine.execution_options(isolation_level="AUTOCOMMIT")


def _prepare_sqlite(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # this module begins transactions, not the driver
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA recursive_triggers=ON")
    cursor.execute("PRAGMA cache_size=-16000")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    if not connection.get_execution_options().get("canopy_autocommit"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
