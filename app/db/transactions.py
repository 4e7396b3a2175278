"""One transaction around several statements, and rows inserted in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias, cast

from sqlalchemy import Table

from app.db.column_types import Base
from app.db.extensions import db
from app.db.queries import connect, with_named_parameters

# ``transaction`` as an argument: jobs and routes pass it to what commits several times.
Transaction: TypeAlias = Callable[[], AbstractContextManager[None]]


@contextmanager
def transaction() -> Iterator[None]:
    """Commit the statements of the block together; roll back when the block raises.

    For jobs, commands, pages and routes below ``/api``. An operation of ``/v1`` is committed by
    ``app.api.blueprint``.
    """
    try:
        yield
        db.session.commit()
    finally:
        db.session.rollback()


def insert_row(model: type[Base], row: Mapping[str, Any]) -> None:
    """Insert a row in the current transaction.

    For what is created at a rate: ``db.session.add`` and its flush take 0.2 ms longer.

    Args:
        row: values by column; columns that are absent are null.

    Raises:
        sqlalchemy.exc.IntegrityError: the row breaks a constraint.
    """
    db.session.connection().execute(cast("Table", model.__table__).insert(), row)


class CompiledInsert:
    """An INSERT of one row, compiled once for each kind of database. It is quicker than
    ``insert_row``, as SQLAlchemy's own execution is left out.

    Args:
        columns: those with a value, of types that drivers take as they are: text and numbers.
    """

    def __init__(self, table: Table, *columns: str) -> None:
        self._statement, self._columns = table.insert(), columns
        self._texts: dict[str, str] = {}

    def run(self, row: Mapping[str, str | int | None]) -> None:
        """Insert a row.

        Args:
            row: the value of each column.
        """
        connection = db.session.connection()
        dialect = connection.dialect
        text = self._texts.get(dialect.name)
        if text is None:
            compiled = self._statement.compile(
                dialect=with_named_parameters(dialect), column_keys=self._columns
            )
            text = self._texts[dialect.name] = str(compiled)
        connection.exec_driver_sql(text, row)


def write_back() -> None:
    """Write SQLite's log back into its file, which holds up nobody. Otherwise the next change would
    do it at its commit, while all others wait in the queue. For jobs that change many rows."""
    if db.engine.dialect.name == "sqlite":
        with connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")
