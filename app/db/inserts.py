"""Inserting a row in the current transaction, without what SQLAlchemy's own execution costs."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Table

from app.db.extensions import db
from app.db.queries import with_named_parameters


class CompiledInsert:
    """An INSERT of one row, compiled once for each kind of database.

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
