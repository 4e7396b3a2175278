"""Rejecting changes while PostgreSQL does not confirm commits."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import psycopg
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from app.db.postgresql.connection import LimitedConnection, reply_seconds
from app.values.circuit_breaker import CircuitBreaker
from config import Settings

_WAITED_TOO_LONG: Final = ("55P03", "57014")  # lock_timeout, statement_timeout
_COMMIT_WAITS: Final = (
    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    " AND query_start < clock_timestamp() - interval '1 second')"
)
_IS_ATTEMPT: Final = "canopy_is_attempt"  # key of a connection that tries a commit again
_UNCONFIRMED_PAUSE: Final = 1.0  # seconds until one change tries again


def refuse_unconfirmed(engine: Engine, reading_engine: Engine, settings: Settings) -> None:
    """Let transactions of ``engine`` fail at once while PostgreSQL does not confirm them, as when
    its only synchronous standby is gone: each would occupy a thread until it is given up, until
    none is left for reading. Every second, one tries whether commits are confirmed again."""
    commits = CircuitBreaker(_UNCONFIRMED_PAUSE, longest=reply_seconds(settings))

    @event.listens_for(engine, "connect")
    def connect(connection: LimitedConnection, _: object) -> None:
        connection.commits = commits

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        may_attempt = commits.may_attempt()
        connection.info[_IS_ATTEMPT] = may_attempt and commits.has_failed
        if not may_attempt:
            reason = psycopg.OperationalError("PostgreSQL does not confirm changes")
            raise OperationalError("BEGIN", {}, reason)

    @event.listens_for(engine, "handle_error")
    def handle_error(context: ExceptionContext) -> None:
        """Note a failure if a lock timed out that an unconfirmed commit may hold."""
        state = getattr(context.original_exception, "sqlstate", None)
        if state in _WAITED_TOO_LONG and _is_commit_waiting(reading_engine):
            commits.on_failure()

    @event.listens_for(engine, "rollback")
    def roll_back(connection: Connection) -> None:
        if not connection.invalidated and connection.info.pop(_IS_ATTEMPT, False):
            commits.on_failure()  # the attempt committed nothing


def _is_commit_waiting(reading_engine: Engine) -> bool:
    """True if one of our commits has been waiting for a standby for a second."""
    with suppress(SQLAlchemyError), reading_engine.connect() as connection:
        return bool(connection.exec_driver_sql(_COMMIT_WAITS).scalar())
    return False
