"""Transactions, and their statements that are compiled once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias, cast

from sqlalchemy import Connection, Table, event
from sqlalchemy.orm import Session, SessionTransaction

from app.db.column_types import Base
from app.db.extensions import db
from app.db.queries import CompiledStatement, CompiledText, reading_connection
from app.db.transaction_notes import open_transaction_notes

# The type of ``transaction``, which is passed to functions that commit several times.
Transaction: TypeAlias = Callable[[], AbstractContextManager[None]]


@contextmanager
def transaction() -> Iterator[None]:
    """Commit the statements of the block together, or roll them back if the block raises.

    For jobs, commands, pages and routes below ``/api``. An operation of ``/v1`` is committed by
    ``app.api.blueprint``.
    """
    try:
        yield
        db.session.commit()
    finally:
        db.session.rollback()


_CONNECTION: Final = "canopy_connection"


@dataclass(frozen=True)
class Inserted:
    """The key of a note that the open transaction has inserted rows into a table."""

    table: str


class CompiledChange(CompiledStatement):
    """A statement of the current transaction that is given to the driver: SQLAlchemy's own
    execution takes longer than the database (``docs/adr/0003-reading.md``)."""

    def run(self, values: Mapping[str, Any]) -> None:
        """Run the statement with these parameters."""
        with self._cursor() as (compiled, cursor):
            cursor.execute(compiled.text, compiled.bind(values))

    def run_many(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run the statement with the parameters of each row. There must be a row."""
        with self._cursor() as (compiled, cursor):
            cursor.executemany(compiled.text, list(map(compiled.bind, rows)))

    def all(self, values: Mapping[str, Any]) -> list[Any]:
        """Run the statement, and return its rows as named tuples."""
        with self._cursor() as (compiled, cursor):
            cursor.execute(compiled.text, compiled.bind(values))
            return compiled.rows(cursor.fetchall())

    def first(self, values: Mapping[str, Any]) -> Any:
        """Run the statement, and return its first row, or None."""
        return next(iter(self.all(values)), None)

    @contextmanager
    def _cursor(self) -> Iterator[tuple[CompiledText, Any]]:
        """Yield the text and a cursor of the driver, whose errors SQLAlchemy handles."""
        connection = _transaction_connection()
        compiled = self.compiled_for(connection.dialect)
        cursor = connection.connection.cursor()
        try:
            yield compiled, cursor
        except connection.dialect.loaded_dbapi.Error as error:
            connection._handle_dbapi_exception(error, compiled.text, None, cursor, None)
        cursor.close()


def _transaction_connection() -> Connection:
    """Return the connection of the current transaction, which the session would look up each
    time."""
    info = db.session.info
    connection: Connection | None = info.get(_CONNECTION)
    if connection is None or connection.closed:
        connection = info[_CONNECTION] = db.session.connection()
    return connection


@event.listens_for(db.session, "after_transaction_create")
def _forget_connection(session: Session, _: SessionTransaction) -> None:
    """Have the session asked for the connection, with which a savepoint begins."""
    session.info.pop(_CONNECTION, None)


def insert_row(model: type[Base], row: Mapping[str, Any]) -> None:
    """Insert a row in the current transaction. For frequent inserts: ``db.session.add`` and its
    flush take longer than the database.

    Args:
        row: values by column. Absent columns have their default, or are null.

    Raises:
        sqlalchemy.exc.IntegrityError: the row breaks a constraint.
    """
    insert, defaults = _insert_of(model)
    insert.run({**defaults, **row})
    open_transaction_notes()[Inserted(model.__tablename__)] = True


def insert_rows(model: type[Base], rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows as ``insert_row``. There must be a row."""
    insert, defaults = _insert_of(model)
    insert.run_many({**defaults, **row} for row in rows)
    open_transaction_notes()[Inserted(model.__tablename__)] = True


@cache
def _insert_of(model: type[Base]) -> tuple[CompiledChange, dict[str, Any]]:
    """Return the INSERT of a model's rows, and the default of each column."""
    table = cast("Table", model.__table__)
    columns = [column for column in table.columns if column is not table.autoincrement_column]
    declared = {column.key: cast("Any", column.default) for column in columns}
    defaults = {key: default and default.arg for key, default in declared.items()}
    return CompiledChange(table.insert().inline(), list(defaults)), defaults


def write_back() -> None:
    """Write SQLite's log back into its file, which blocks nobody. Otherwise the next change would
    do it at its commit, while all others wait in the queue. For jobs that change many rows."""
    if db.engine.dialect.name == "sqlite":
        with reading_connection() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")
