"""Reading lists from a replica of PostgreSQL, which takes their work off the primary.

What is read there is as recent as what the primary would have answered: the primary is asked how
far its log has been written, and the replica is read only if it has replayed as much. If it has not
within a moment, or is unavailable, the primary is read instead.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

from flask import Flask, current_app
from prometheus_client import Counter
from sqlalchemy import Engine, bindparam, column, create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from app.db import queries
from app.db.engines import is_outage
from app.db.postgresql import connection as postgresql
from app.db.postgresql.failover import KnownServer
from app.db.queries import CompiledQuery
from app.policy.metrics import describe
from app.values.circuit_breaker import CircuitBreaker
from config import Settings

log = logging.getLogger(__name__)

T = TypeVar("T")

_EXTENSION: Final = "canopy_replica"
_CATCH_UP: Final = 0.05  # seconds, for which a replica that is behind is waited for
_CATCH_UP_STEP: Final = 0.005
_BEHIND_PAUSE: Final = 0.5  # seconds, after which one that was behind is asked again
_REPLY_SECONDS: Final = 0.5  # after which it is known to hang
_PAUSE: Final = 5.0  # seconds, after which a replica that failed is tried again
_ATTEMPT_SECONDS: Final = 10.0
_CONNECT_SECONDS: Final = 2  # libpq's minimum
_TIMED_OUT: Final = "57014"

# https://www.postgresql.org/docs/current/functions-admin.html: what is committed is flushed. The
# identifier is that of a primary and of all its standbys.
_WRITTEN = CompiledQuery(
    text(
        "SELECT CAST(pg_current_wal_flush_lsn() AS text) AS position, system_identifier AS cluster"
        " FROM pg_control_system()"
    ).columns(column("position"), column("cluster"))
)
_STATE = CompiledQuery(
    text(
        "SELECT pg_is_in_recovery() AS is_replica, system_identifier AS cluster,"
        " pg_last_wal_replay_lsn() >= CAST(:position AS pg_lsn) AS has_replayed"
        " FROM pg_control_system()"
    )
    .bindparams(bindparam("position"))
    .columns(column("is_replica"), column("cluster"), column("has_replayed"))
)
_READS: Final = Counter(*describe("canopy_replica_reads_total"))


class NotAReplica(SQLAlchemyError):
    """The server is not, or no longer, a replica of the primary."""


class Replica:
    """A replica, and whether it is any use at the moment."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._failures = CircuitBreaker(_PAUSE, longest=_ATTEMPT_SECONDS)
        self._delays = CircuitBreaker(_BEHIND_PAUSE, longest=_BEHIND_PAUSE)

    def read(self, read: Callable[[], T]) -> T:
        """The result of ``read``, from here if it is up to date."""
        if self._delays.may_attempt() and self._failures.may_attempt():
            written = _WRITTEN.first()
            try:
                with queries.reading_from(self.engine):
                    has_replayed = self._has_replayed(written)
                    self._on_response()
                    if has_replayed:
                        result = read()
                        _READS.labels("replica").inc()
                        return result
            except SQLAlchemyError as error:
                if not _is_unavailable(error):
                    raise
                self._on_failure(error)
        _READS.labels("primary").inc()
        return read()

    def _has_replayed(self, written: Any) -> bool:
        """Return whether it has replayed the log as far as the primary has written it, or does so
        in a moment. The following queries use the same connection."""
        deadline = time.monotonic() + _CATCH_UP
        driver: Any = queries.connection_to(self.engine).driver_connection
        usual, driver.reply_seconds = driver.reply_seconds, _REPLY_SECONDS
        try:
            while not self._is_at(written):
                if time.monotonic() >= deadline:
                    self._delays.on_failure()
                    return False
                time.sleep(_CATCH_UP_STEP)
        finally:
            driver.reply_seconds = usual
        self._delays.on_success()
        return True

    def _is_at(self, written: Any) -> bool:
        state = _STATE.first(position=written.position)
        if not state.is_replica or state.cluster != written.cluster:
            raise NotAReplica("it is not a replica of the database at DATABASE_URL")
        return bool(state.has_replayed)

    def _on_response(self) -> None:
        if self._failures.has_failed:
            log.warning("the replica of the database is back")
        self._failures.on_success()

    def _on_failure(self, error: SQLAlchemyError) -> None:
        if not self._failures.has_failed:
            log.error("the replica of the database is unavailable: %s", _cause(error))
        self._failures.on_failure()
        queries.release()  # its connections may lead to a server that was promoted
        self.engine.dispose()


def init_app(app: Flask, settings: Settings) -> None:
    """Give ``app`` its replica, if ``DATABASE_REPLICA_URL`` is set.

    Raises:
        config.SettingsError: the address cannot be used.
    """
    if settings.database_replica_url is None:
        return
    options = postgresql.engine_options(settings, "database_replica_url")
    if "connect_timeout" in options["connect_args"]:  # the address has none
        options["connect_args"]["connect_timeout"] = _CONNECT_SECONDS
    engine = create_engine(
        settings.database_replica_url,
        **options,
        isolation_level="AUTOCOMMIT",
        pool_reset_on_return=None,
    )
    postgresql.prepare(engine, settings, KnownServer(), has_clock=False)
    app.extensions[_EXTENSION] = Replica(engine)


def engines() -> list[Engine]:
    """The engine of the application's replica, if it has one."""
    replica: Replica | None = current_app.extensions.get(_EXTENSION)
    return [] if replica is None else [replica.engine]


def read_from_replica(read: Callable[[], T]) -> T:
    """The result of ``read``, which sends queries only: from the replica if there is one and it is
    up to date, otherwise from the primary."""
    replica: Replica | None = current_app.extensions.get(_EXTENSION)
    return read() if replica is None else replica.read(read)


def _is_unavailable(error: SQLAlchemyError) -> bool:
    """Return whether the primary may succeed. A query that took too long would take as long
    there."""
    if isinstance(error, NotAReplica):
        return True
    return is_outage(error) and getattr(_cause(error), "sqlstate", None) != _TIMED_OUT


def _cause(error: SQLAlchemyError) -> object:
    """The driver's own error, if there is one."""
    return getattr(error, "orig", None) or error
