"""Reading outside a change: statements that are compiled once, and run on the request's connection.

Executing a statement by SQLAlchemy takes several times as long as the database takes for a row. A
``CompiledQuery`` keeps the compiled text and gives it to the driver. Each statement is on its own
(autocommit), so that there is no transaction to begin or end, and on SQLite no lock that delays
writers. ``docs/adr/0003-reading.md`` has measurements.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from flask import Flask, current_app, g
from sqlalchemy import Connection, Engine, Executable, Float, Select, create_engine, select
from sqlalchemy.dialects.sqlite import dialect as SQLiteDialect
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.sql.compiler import SQLCompiler

from app.db import sqlite_interrupts
from app.db.postgresql.connection import NoReply
from app.values import processor_clock

_ENGINE: Final = "canopy_reading_engine"
_READER: Final = "canopy_reader"
_TRIES: Final = 2  # a connection that the server has closed meanwhile is replaced once

Convert = Callable[[Any], Any]


class _Reader(NamedTuple):
    """The connection of a request, and the cursors of its streams."""

    connection: PoolProxiedConnection
    streams: list[Any]


def init_app(app: Flask, url: str, options: Mapping[str, Any]) -> Engine:
    """Give ``app`` an engine for reading, whose connections are returned at the end of requests."""
    autocommit = {} if url.startswith("sqlite") else {"isolation_level": "AUTOCOMMIT"}
    # With autocommit there is nothing to roll back.
    engine = create_engine(url, **options, **autocommit, pool_reset_on_return=None)
    app.extensions[_ENGINE] = engine
    app.teardown_appcontext(lambda _: release_connection())
    return engine


def reading_engine() -> Engine:
    """Return the engine for reading."""
    engine: Engine = current_app.extensions[_ENGINE]
    return engine


def release_connection() -> None:
    """Return the request's connection to the pool, before a change opens its own."""
    reader: _Reader | None = g.pop(_READER, None)
    if reader is None:
        return
    for cursor in reader.streams:  # unread, it would keep SQLite's snapshot
        with suppress(reading_engine().dialect.loaded_dbapi.Error):  # the connection is gone
            cursor.close()
    reader.connection.close()


def reading_connection() -> Connection:
    """Return a connection for rare statements. Use it in a ``with``."""
    return reading_engine().connect()


def has_rows(statement: Select[Any]) -> bool:
    """True if a statement finds rows. Takes no lock, and begins no transaction."""
    with reading_connection() as connection:
        return bool(connection.scalar(select(statement.exists())))


class CompiledStatement:
    """A statement with named parameters, compiled once for each kind of database.

    Args:
        columns: the columns that an INSERT or UPDATE writes. is_planned_anew: let PostgreSQL plan
        it each time. Otherwise it keeps a plan after five times,
            and a plan made for an empty table may scan all of it once it is full.
    """

    def __init__(
        self,
        statement: Executable,
        columns: Sequence[str] | None = None,
        *,
        is_planned_anew: bool = False,
    ) -> None:
        self._statement, self._columns = statement, columns
        self._is_planned_anew = is_planned_anew
        self._compiled: dict[str, CompiledText] = {}

    def compiled_for(self, dialect: Dialect) -> CompiledText:
        """Return the text for a kind of database."""
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = CompiledText(self._statement, dialect, self._columns)
            if self._is_planned_anew and dialect.name == "postgresql":
                compiled.options = {"prepare": False}
            self._compiled[dialect.name] = compiled
        return compiled


class CompiledQuery(CompiledStatement):
    """A SELECT outside a change."""

    @property
    def text(self) -> str:
        """The statement for the database in use."""
        return self.compiled_for(reading_engine().dialect).text

    def all(self, **values: Any) -> list[Any]:
        """Return all rows as named tuples."""
        compiled, rows = self._run(values)
        return compiled.rows(rows)

    def tuples(self, **values: Any) -> list[tuple[Any, ...]]:
        """Return all rows as plain tuples, for lists: names would be looked up for every row."""
        compiled, rows = self._run(values)
        return compiled.converted(rows)

    def stream(self, number: int, **values: Any) -> Iterator[list[tuple[Any, ...]]]:
        """Yield all rows as plain tuples, ``number`` at a time, for rows that may have megabytes.

        The statement runs before this returns; PostgreSQL's driver keeps the whole result.
        """
        source = reading_engine()
        compiled = self.compiled_for(source.dialect)
        cursor, rows = _execute_statement(source, compiled, compiled.bind(values), number)
        g.get(_READER).streams.append(cursor)
        return compiled.chunks(source, cursor, rows, number)

    def first(self, **values: Any) -> Any:
        """Return the first row, or None."""
        compiled, rows = self._run(values)
        return compiled.rows(rows[:1])[0] if rows else None

    def scalar(self, **values: Any) -> Any:
        """Return the first column of the only row."""
        return self.all(**values)[0][0]

    def _run(self, values: dict[str, Any]) -> tuple[CompiledText, list[Any]]:
        source = reading_engine()
        compiled = self.compiled_for(source.dialect)
        cursor, rows = _execute_statement(source, compiled, compiled.bind(values))
        cursor.close()
        return compiled, rows


class CompiledText:
    """The text of a statement for one kind of database, and the conversions that its driver needs.

    Args:
        columns: the columns that an INSERT or UPDATE writes.
    """

    def __init__(
        self, statement: Executable, dialect: Dialect, columns: Sequence[str] | None = None
    ) -> None:
        # psycopg's parameters are named; in SQLite's dialect they are positional by default.
        named = SQLiteDialect(paramstyle="named") if dialect.name == "sqlite" else dialect
        compiled = statement.compile(dialect=named, column_keys=columns)  # type: ignore[attr-defined]
        assert isinstance(compiled, SQLCompiler)
        self.text = str(compiled)
        self.options: dict[str, Any] = {}  # for the driver's ``execute``
        self.is_sqlite = dialect.name == "sqlite"
        self.compares_text = self.is_sqlite and sqlite_interrupts.compares_text(self.text)
        binds = {name: bound for bound, name in compiled.bind_names.items()}
        self._fixed = {
            name: bound.effective_value for name, bound in binds.items() if not bound.required
        }
        self._to_driver = _column_converters(
            (name, bound.type.dialect_impl(dialect).bind_processor(dialect))
            for name, bound in binds.items()
        )
        columns = [entry.keyname for entry in compiled._result_columns]
        row: Any = namedtuple("Row", columns)  # type: ignore[misc]
        self._make_row: Callable[[Any], Any] = row._make
        self._from_driver = _column_converters(
            (index, entry.type.dialect_impl(dialect).result_processor(dialect, None))
            for index, entry in enumerate(compiled._result_columns)
            if not isinstance(entry.type, Float)  # drivers return floats
        )

    def steps(self, values: dict[str, Any]) -> int:
        """Return SQLite's steps between two checks whether the request may go on."""
        return (
            sqlite_interrupts.steps_for(values) if self.compares_text else sqlite_interrupts.STEPS
        )

    def bind(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Convert parameters for the driver."""
        bound = {**self._fixed, **values}
        for name, convert in self._to_driver:
            bound[name] = convert(bound[name])
        return bound

    def rows(self, driver_rows: list[Any]) -> list[Any]:
        """Convert the driver's rows to named tuples."""
        return list(map(self._make_row, self.converted(driver_rows)))

    def chunks(
        self, source: Engine, cursor: Any, rows: list[Any], number: int
    ) -> Iterator[list[Any]]:
        """Yield these rows, and then the rest of the cursor's, ``number`` at a time."""
        try:
            while rows:
                yield self.converted(rows)
                rows = cursor.fetchmany(number)
        except source.dialect.loaded_dbapi.Error as error:
            processor_clock.raise_refusal()
            raise _wrapped_error(error, self.text, source, gone=False) from error
        finally:
            cursor.close()

    def converted(self, driver_rows: list[Any]) -> list[Any]:
        """Convert the driver's rows to plain tuples."""
        if not self._from_driver:
            return driver_rows
        rows = []
        for row in driver_rows:
            cells = list(row)
            for index, convert in self._from_driver:
                cells[index] = convert(cells[index])
            rows.append(tuple(cells))
        return rows


def _column_converters(pairs: Any) -> list[tuple[Any, Convert]]:
    return [(key, convert) for key, convert in pairs if convert is not None]


def _execute_statement(
    source: Engine, statement: CompiledText, values: dict[str, Any], number: int | None = None
) -> tuple[Any, list[Any]]:
    """Run a statement, again if the connection was gone. Returns the cursor, and its first
    ``number`` rows, or all."""
    for tries_left in reversed(range(_TRIES)):
        connection: Any = connection_to(source)
        cursor = None
        try:
            if statement.is_sqlite:
                connection.dbapi_connection.check_every(statement.steps(values))
            cursor = connection.cursor()
            cursor.execute(statement.text, values, **statement.options)
            rows = cursor.fetchall() if number is None else cursor.fetchmany(number)
        except source.dialect.loaded_dbapi.Error as error:
            gone = source.dialect.is_disconnect(error, connection.dbapi_connection, cursor)
            if cursor is not None:
                # Collected as garbage, it would make that thread wait for SQLite's connection.
                cursor.close()
            if gone:
                g.pop(_READER).connection.invalidate(error)
                source.dispose()
            if not (gone and tries_left) or isinstance(error, NoReply):
                processor_clock.raise_refusal()
                raise _wrapped_error(error, statement.text, source, gone) from error
        else:
            return cursor, rows
    raise AssertionError("the last try returns or raises")


def connection_to(source: Engine) -> PoolProxiedConnection:
    """Return the connection of this request, and open it if there is none."""
    reader: _Reader | None = g.get(_READER)
    return _open_connection(source) if reader is None else reader.connection


def _open_connection(source: Engine) -> PoolProxiedConnection:
    """Open the request's connection. The pool does not wrap errors of the driver."""
    try:
        connection = source.raw_connection()
    except source.dialect.loaded_dbapi.Error as error:
        raise _wrapped_error(error, "", source, gone=True) from error
    setattr(g, _READER, _Reader(connection, []))
    return connection


def _wrapped_error(error: Exception, text: str, source: Engine, gone: bool) -> BaseException:
    """Wrap an error of the driver in SQLAlchemy's."""
    return DBAPIError.instance(
        text,
        {},
        error,
        source.dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=gone,
        dialect=source.dialect,
    )
