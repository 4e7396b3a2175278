"""Connections to PostgreSQL: their host, their session settings, their time limits.

PostgreSQL's own limits, such as ``statement_timeout``, do not help when its host vanishes or hangs,
or a commit waits for a standby that is gone. So the client has limits, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import make_conninfo, timeout_from_conninfo
from psycopg.pq import TransactionStatus
from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError

from app.db.postgresql.failover import KnownServer
from app.values import clock, processor_clock
from app.values.circuit_breaker import CircuitBreaker
from app.values.processor_clock import ProcessorClock
from config import Settings, SettingsError

T = TypeVar("T")
CheckTables = Callable[[Any], None]

# Parameters of libpq (https://www.postgresql.org/docs/current/libpq-connect.html), for those that
# the URL does not set. A host that vanishes is noticed 4 s after something was sent to it, and
# within 7 s while a reply is awaited.
NETWORK_LIMITS: Final[dict[str, int]] = {
    "connect_timeout": 3,  # seconds, for each host of the address
    "tcp_user_timeout": 4000,  # milliseconds
    "keepalives_idle": 3,
    "keepalives_interval": 2,
    "keepalives_count": 2,
}
# With its schema, as the role's search_path may lead to another function, and the clock decides
# what is deleted by age.
_CLOCK: Final = "SELECT extract(epoch FROM pg_catalog.clock_timestamp())::pg_catalog.float8"
# Each change begins with this query. On PostgreSQL it waits for a migration to tables on which
# earlier versions cannot write, and such a migration waits for changes.
VERSION: Final = "SELECT version_num, oldest_code FROM alembic_version"
_CLOCK_SECONDS: Final = 10.0  # between two readings of the database's clock
_READ_ONLY: Final = "25006"  # read_only_sql_transaction
_CANCEL_SECONDS: Final = 2.0
_REPLY_MARGIN: Final = 1.0  # seconds after statement_timeout for PostgreSQL itself to give up


class NoReply(psycopg.OperationalError):
    """PostgreSQL took too long."""


class CommitOutcomeUnknown(psycopg.OperationalError):
    """PostgreSQL did not confirm a commit; the changes may have been made or not."""


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed when PostgreSQL does not reply in time."""

    reply_seconds: float | None = None  # None: no limit
    is_reading = False  # it waits for no locks
    commits: CircuitBreaker | None = None  # None: it is for reading
    server: KnownServer | None = None
    opened_at = 0.0  # monotonic

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Return the result of an exchange with PostgreSQL.

        Raises:
            NoReply: it took too long, and the connection is closed. Nothing is canceled, as a
                canceled commit that waits for a standby would look like a success.
        """
        if self.is_reading and (clock := processor_clock.current()) is not None:
            gen = _watched_exchange(self, gen, clock)
        try:
            return super().wait(gen, interval, self.reply_seconds if timeout is None else timeout)
        except psycopg.errors._WaitTimeout as error:
            gen.close()
            self.pgconn.finish()
            self._note_loss()
            raise NoReply(f"PostgreSQL did not reply within {self.reply_seconds} s") from error
        except psycopg.OperationalError:
            if self.closed:
                self._note_loss()
            raise

    def _note_loss(self) -> None:
        if self.server is not None:
            self.server.on_lost(self.opened_at)

    def commit(self) -> None:
        """Commit.

        Raises:
            CommitOutcomeUnknown: the connection was lost during the commit.
        """
        is_changing = self.info.transaction_status == TransactionStatus.INTRANS
        commits = self.commits if is_changing else None
        is_attempt = commits is not None and commits.has_failed
        has_written = is_attempt and self._has_written()
        try:
            super().commit()
        except psycopg.OperationalError as error:
            if not (is_changing and self.closed):
                raise
            if commits and isinstance(error, NoReply):
                commits.on_failure()
            raise CommitOutcomeUnknown(str(error)) from error
        if commits and is_attempt:
            (commits.on_success if has_written else commits.on_failure)()

    def _has_written(self) -> bool:
        """True if the commit of this transaction has to be confirmed."""
        row = self.execute("SELECT pg_current_xact_id_if_assigned() IS NOT NULL").fetchone()
        return bool(row and row[0])


def _watched_exchange(
    connection: LimitedConnection, gen: PQGen[T], clock: ProcessorClock
) -> PQGen[T]:
    """Wrap the exchange of a statement with PostgreSQL. It is canceled if its request may not go
    on.

    Waiting for longer than the driver's interval counts as processor time of the request, unless
    PostgreSQL does not reply, not even to the cancellation.
    """
    began, is_long, is_canceled, has_replied = time.monotonic(), False, False, False
    try:
        event_mask = next(gen)
        while True:
            ready = yield event_mask
            if not ready and not is_canceled:
                is_long = True
                if not clock.may_go_on(time.monotonic() - began):
                    is_canceled = True
                    with suppress(psycopg.Error):  # then the statement's own timeout ends it
                        connection.cancel_safe(timeout=_CANCEL_SECONDS)
            event_mask = gen.send(ready)
    except StopIteration as end:
        has_replied = True
        result: T = end.value
        return result
    except psycopg.errors.QueryCanceled:
        has_replied = True
        raise
    finally:
        if not has_replied:
            clock.withdraw_refusal()
        elif is_long:
            clock.add(time.monotonic() - began)


def engine_options(settings: Settings) -> dict[str, Any]:
    """Return the options of an engine.

    Raises:
        config.SettingsError: DATABASE_URL is malformed, or has an option that libpq does not know,
            or a ``connect_timeout`` that is no number.
    """
    parameters = _url_parameters(settings.database_url)
    limits = {name: value for name, value in NETWORK_LIMITS.items() if name not in parameters}
    # Prepared statements belong to the server's connection, which transactions share.
    is_shared = settings.pgbouncer_pool_mode == "transaction"
    return {
        "hide_parameters": True,
        "pool_size": settings.database_pool_size,
        "max_overflow": 0,
        "pool_timeout": settings.database_timeout_ms / 1000,
        "connect_args": limits | {"prepare_threshold": None if is_shared else 2},
    }


def _url_parameters(url: str) -> Mapping[str, Any]:
    """Return the parameters in a URL, by libpq's names."""
    try:
        dialect: Any = postgresql.psycopg.dialect
        parameters: dict[str, Any] = dialect().create_connect_args(make_url(url))[1]
        make_conninfo(**parameters)
        timeout_from_conninfo(parameters)
    except (ArgumentError, psycopg.ProgrammingError) as error:
        reason = str(error).strip().splitlines()[0]
    else:
        return parameters
    raise SettingsError(f"DATABASE_URL cannot be used: {reason}.")


def limit_connections(
    engine: Engine,
    settings: Settings,
    server: KnownServer,
    *,
    check_tables: CheckTables | None = None,
) -> None:
    """Let an engine make limited connections, with the settings of our sessions.

    These are not in the URL, as pgbouncer refuses ``options``. With pgbouncer in transaction mode,
    each transaction sets them; a statement outside a transaction has the settings of the role.

    Args:
        server: shared by engines with the same URL.
        check_tables: called with the row of ``VERSION`` at the beginning of each change; with None
            if there is no such table. Without it the engine is for reading, which is repeated when
            it fails.
    """
    timeout = settings.database_timeout_ms
    is_shared = settings.pgbouncer_pool_mode == "transaction"
    set_all = set_statement(session_values(timeout), is_shared)

    @event.listens_for(engine, "do_connect")
    def connect(_: object, __: object, arguments: Any, parameters: Any) -> LimitedConnection:
        connection = LimitedConnection.connect(*arguments, **server.last_first(parameters))
        server.on_opened(connection.info.host, connection.info.port)
        connection.server, connection.opened_at = server, time.monotonic()
        connection.reply_seconds = reply_seconds(settings)
        connection.is_reading = check_tables is None
        if not is_shared:
            connection.execute(set_all)
            connection.commit()
        return connection

    event.listen(engine, "handle_error", _leave_read_only)
    event.listen(engine, "checkout", lambda connection, *_: server.check(connection.opened_at))
    if check_tables is not None:
        event.listen(engine, "checkout", partial(_begin_checked, check_tables))
    else:
        event.listen(engine, "checkout", _follow_clock)
    if is_shared:
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(set_all))


def _leave_read_only(context: ExceptionContext) -> None:
    """Reconnect after a change on a server that is no longer the primary."""
    if getattr(context.original_exception, "sqlstate", None) == _READ_ONLY:
        context.is_disconnect = True


def _begin_checked(check_tables: CheckTables, connection: LimitedConnection, *_: object) -> None:
    """Begin the transaction of a change, and check the tables, which stay locked until its end. If
    the connection is dead, let the pool replace it."""
    try:
        version = connection.execute(VERSION).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
        version = None
    except psycopg.OperationalError as error:
        if connection.closed:
            raise DisconnectionError(str(error)) from error
        raise
    check_tables(version)


def reply_seconds(settings: Settings) -> float:
    """Return the seconds to wait for a reply, in which PostgreSQL itself gives up."""
    return settings.database_timeout_ms / 1000 + _REPLY_MARGIN


def _follow_clock(connection: LimitedConnection, *_: object) -> None:
    """Read the database's clock if that is due, on a connection without a transaction."""
    if clock.read_ago() < _CLOCK_SECONDS:
        return
    began = time.monotonic()
    with suppress(psycopg.Error):  # the next statement will fail, too
        cursor = connection.execute(_CLOCK)
        ((seconds,),) = cursor.fetchall()
        clock.follow_database_clock(seconds, took=time.monotonic() - began)


def session_values(timeout: int) -> dict[str, str]:
    """Return the settings of our sessions, by PostgreSQL's parameters.

    Args:
        timeout: for a lock or a statement, in milliseconds.
    """
    return {
        "statement_timeout": f"{timeout}ms",
        "lock_timeout": f"{timeout}ms",
        "timezone": "UTC",
        # Compiling takes longer than our statements. The text index needs memory for each row that
        # it finds (docs/adr/0004-search.md).
        "jit": "off",
        "work_mem": "32MB",
    }


def set_statement(values: Mapping[str, str], is_local: bool) -> str:
    """Return the statement that sets parameters for the session, or for the transaction only."""
    local = "true" if is_local else "false"
    calls = (f"set_config('{name}', '{value}', {local})" for name, value in values.items())
    return f"SELECT {', '.join(calls)}"


def is_primary(connection: Connection) -> bool:
    """True if the server of a connection is a primary. SQLite always is."""
    if connection.dialect.name == "sqlite":
        return True
    return connection.exec_driver_sql("SELECT pg_is_in_recovery()").scalar() is False


@contextmanager
def reply_limit(connection: Connection, seconds: float) -> Iterator[None]:
    """Limit the wait for each reply during the block; not on SQLite."""
    if connection.dialect.name == "sqlite":
        yield
        return
    driver: Any = connection.connection.driver_connection
    usual, driver.reply_seconds = driver.reply_seconds, seconds
    try:
        yield
    finally:
        driver.reply_seconds = usual


@contextmanager
def without_waiting(connection: Connection) -> Iterator[Connection]:
    """Open a transaction on a reading connection that waits for no lock and no standby."""
    changing = connection.execution_options(isolation_level="READ COMMITTED")
    changing.exec_driver_sql("SET LOCAL lock_timeout = 1")  # 0 is no limit
    changing.exec_driver_sql("SET LOCAL synchronous_commit = off")
    yield changing
    changing.commit()
