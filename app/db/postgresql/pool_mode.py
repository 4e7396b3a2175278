"""Detecting a pgbouncer in transaction mode, where clients use a connection to PostgreSQL in turn.

``PGBOUNCER_POOL_MODE`` has to say so: prepared statements and settings belong to the connection to
PostgreSQL, so another client would run that statement and have that setting.
"""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from config import Settings, SettingsError

_CONNECT_SECONDS = 3


def require_pool_mode(settings: Settings) -> None:
    """Reject ``session`` for a pgbouncer in transaction mode, if the database is available.

    Raises:
        config.SettingsError: PGBOUNCER_POOL_MODE is wrong.
    """
    if settings.uses_sqlite or settings.pgbouncer_pool_mode == "transaction":
        return
    with suppress(SQLAlchemyError):
        if shares_connections(settings.database_url):
            raise SettingsError(
                "PGBOUNCER_POOL_MODE must be transaction, as DATABASE_URL leads to a pgbouncer in "
                "transaction mode. Set it for every web server and worker."
            )


def shares_connections(url: str) -> bool:
    """True if two clients get the same connection to PostgreSQL in turn.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the database cannot be reached.
    """
    limits = {"connect_timeout": _CONNECT_SECONDS, "prepare_threshold": None}
    engine = create_engine(make_url(url), poolclass=NullPool, connect_args=limits)
    with engine.connect() as first, engine.connect() as second:
        first = first.execution_options(isolation_level="AUTOCOMMIT")
        before = _server_process(first)
        during = _server_process(second)  # its transaction stays open
        return before == during or _server_process(first) != before


def _server_process(connection: Connection) -> int:
    pid: int = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
    return pid
