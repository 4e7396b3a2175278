"""Connections to PostgreSQL: where they lead, what their sessions have set, how long they wait.

PostgreSQL's own limits, such as ``statement_timeout``, are of no use when its host vanishes
from the network, when it hangs, or when a commit waits for a standby that is gone. So this side has
limits of its own.
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

# Parameters of libpq (https://www.postgresql.org/docs/current/libpq-connect.html), unless the
# address has others. A host that vanishes is noticed after 4 s when something was sent to it, and
# after 7 s when a reply is awaited.
NETWORK_LIMITS: Final[dict[str, int]] = {
    "connect_timeout": 3,  # seconds, for each host of the address
    "tcp_user_timeout": 4000,  # milliseconds
    "keepalives_idle": 3,
    "keepalives_interval": 2,
    "keepalives_count": 2,
}
# Names its schema: the search_path of the role may lead to another function, and the clock decides
# what is deleted by age.
_CLOCK: Final = "SELECT extract(epoch FROM pg_catalog.clock_timestamp())::pg_catalog.float8"
# What a change asks for at its beginning. On PostgreSQL it waits for a migration onto whose tables
# the versions before cannot write, and such a migration for it.
VERSION: Final = "SELECT version_num, oldest_code FROM alembic_version"
_CLOCK_SECONDS: Final = 10.0  # after which the database's clock is read again
_READ_ONLY: Final = "25006"  # read_only_sql_transaction
_CANCEL_SECONDS: Final = 2.0
_REPLY_MARGIN: Final = 1.0  # seconds beyond statement_timeout, in which PostgreSQL itself gives up


class NoReply(psycopg.OperationalError):
    """PostgreSQL took too long."""


class CommitOutcomeUnknown(psycopg.OperationalError):
    """PostgreSQL did not confirm a commit; the changes may have been made or not."""


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed when PostgreSQL does not reply in time."""

    reply_seconds: float | None = None  # None: no limit
    is_reading = False  # it has no locks to wait for
    commits: CircuitBreaker | None = None  # of its engine, if it is for changes
    server: KnownServer | None = None
    opened_at = 0.0  # of the monotonic clock

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """The result of an exchange with PostgreSQL.

        Raises:
            NoReply: it took too long, and the connection is closed. It is not canceled: a canceled
                commit that waits for a standby would look like a success.
        """
        if self.is_reading and (clock := processor_clock.current()) is not None:
            gen = _watched(self, gen, clock)
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
            CommitOutcomeUnknown: the connection was lost meanwhile.
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
        """Return whether the commit of this transaction will have to be confirmed."""
        found = self.execute("SELECT pg_current_xact_id_if_assigned() IS NOT NULL").fetchone()
        return bool(found and found[0])


def _watched(connection: LimitedConnection, gen: PQGen[T], clock: ProcessorClock) -> PQGen[T]:
    """The exchange of a statement with PostgreSQL. It is canceled when its request may not go on.

    What the thread waits for longer than the driver's interval counts as the request's own time, if
    PostgreSQL worked on it. It did not where it does not reply, and not even to the cancellation.
    """
    began, is_long, is_canceled, has_replied = time.monotonic(), False, False, False
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and not is_canceled:
                is_long = True
                if not clock.may_go_on(time.monotonic() - began):
                    is_canceled = True
                    with suppress(psycopg.Error):  # else its own timeout ends it
                        connection.cancel_safe(timeout=_CANCEL_SECONDS)
            wanted = gen.send(ready)
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
    """Options of an engine.

    Raises:
        config.SettingsError: DATABASE_URL is malformed, or has an option that libpq does not know,
            or a ``connect_timeout`` that is no number.
    """
    given = _parameters(settings.database_url)
    limits = {name: value for name, value in NETWORK_LIMITS.items() if name not in given}
    # A prepared statement is one of the server's connection, which transactions share.
    is_shared = settings.pgbouncer_pool_mode == "transaction"
    return {
        "hide_parameters": True,
        "pool_size": settings.database_pool_size,
        "max_overflow": 0,
        "pool_timeout": settings.database_timeout_ms / 1000,
        "connect_args": limits | {"prepare_threshold": None if is_shared else 2},
    }


def _parameters(url: str) -> Mapping[str, Any]:
    """The parameters in an address, by libpq's names."""
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


def prepare(
    engine: Engine,
    settings: Settings,
    server: KnownServer,
    *,
    check_tables: CheckTables | None = None,
) -> None:
    """Make the connections of ``engine`` limited ones, with the settings of our sessions.

    The address cannot have these: pgbouncer refuses ``options``. With pgbouncer in transaction
    mode, each transaction sets them for itself. A statement outside a transaction then runs with
    those of the role.

    Args:
        server: what is known of the server; engines with the same address share it.
        check_tables: given the row of ``VERSION`` at the beginning of each change, or None where
            there is no such table. Without it the engine is for reading, where what failed is done
            once more.
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
        event.listen(engine, "checkout", partial(_begin, check_tables))
    else:
        event.listen(engine, "checkout", _follow_clock)
    if is_shared:
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(set_all))


def _leave_read_only(context: ExceptionContext) -> None:
    """Reconnect after a change on a server that is no longer the primary."""
    if getattr(context.original_exception, "sqlstate", None) == _READ_ONLY:
        context.is_disconnect = True


def _begin(check_tables: CheckTables, connection: LimitedConnection, *_: object) -> None:
    """Begin the transaction of a change, and check the tables, whose lock it keeps until its end.
    Where its connection is dead, have the pool replace it. A reading is done again instead."""
    try:
        found = connection.execute(VERSION).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
        found = None
    except psycopg.OperationalError as error:
        if connection.closed:
            raise DisconnectionError(str(error)) from error
        raise
    check_tables(found)


def reply_seconds(settings: Settings) -> float:
    """The seconds to wait for a reply: longer than PostgreSQL itself takes to give up."""
    return settings.database_timeout_ms / 1000 + _REPLY_MARGIN


def _follow_clock(connection: LimitedConnection, *_: object) -> None:
    """Read the database's clock now and then, on a connection that has no transaction."""
    if clock.read_ago() < _CLOCK_SECONDS:
        return
    asked = time.monotonic()
    with suppress(psycopg.Error):  # what the connection is wanted for will find out, too
        cursor = connection.execute(_CLOCK)
        ((seconds,),) = cursor.fetchall()
        clock.follow_database_clock(seconds, took=time.monotonic() - asked)


def session_values(timeout: int) -> dict[str, str]:
    """The settings of our sessions, by the names of PostgreSQL's parameters.

    Args:
        timeout: for a lock or a statement, in milliseconds.
    """
    return {
        "statement_timeout": f"{timeout}ms",
        "lock_timeout": f"{timeout}ms",
        "timezone": "UTC",
        # No statement of ours takes as long as compiling it. An index of texts needs room to note
        # down each row that it finds (docs/adr/0004-search.md).
        "jit": "off",
        "work_mem": "32MB",
    }


def set_statement(values: Mapping[str, str], is_local: bool) -> str:
    """The statement that sets parameters for the session, or for the transaction only."""
    local = "true" if is_local else "false"
    calls = (f"set_config('{name}', '{value}', {local})" for name, value in values.items())
    return f"SELECT {', '.join(calls)}"


def accepts_changes(connection: Connection) -> bool:
    """Return whether the server of a connection is a primary; SQLite always is."""
    if connection.dialect.name == "sqlite":
        return True
    return connection.exec_driver_sql("SHOW transaction_read_only").scalar() == "off"


@contextmanager
def reply_limit(connection: Connection, seconds: float) -> Iterator[None]:
    """Wait this long for each reply to a connection. SQLite has no such limit."""
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
    """A transaction on a reading connection that waits for no lock and for no standby."""
    changing = connection.execution_options(isolation_level="READ COMMITTED")
    changing.exec_driver_sql("SET LOCAL lock_timeout = 1")  # 0 is no limit
    changing.exec_driver_sql("SET LOCAL synchronous_commit = off")
    yield changing
    changing.commit()
