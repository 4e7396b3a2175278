"""Filling the tables of a database, up to what depends on their rows: the indexes that SQLite keeps
by triggers, and PostgreSQL's counters of row numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from app.maintenance.errors import MaintenanceError
from app.maintenance.indexes import count_faults, empty_indexes, text_faults
from app.maintenance.rows import Row, TableCodec


def clear(connection: Connection, layouts: Sequence[TableCodec]) -> None:
    """Delete all rows, in the transaction at hand."""
    if connection.dialect.name == "sqlite":
        _clear_sqlite(connection, layouts)
        return
    for layout in reversed(layouts):
        # Not TRUNCATE: that would show empty tables to those who read meanwhile.
        connection.execute(layout.table.delete())


def insert(connection: Connection, layout: TableCodec, rows: Sequence[Row]) -> None:
    """Add rows, in the transaction at hand.

    Raises:
        sqlalchemy.exc.SQLAlchemyError, psycopg.Error: the database refuses one.
    """
    quote = connection.dialect.identifier_preparer.quote
    target = f"{quote(layout.name)} ({', '.join(quote(name) for name in layout.columns)})"
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(layout.columns))
        # S608: the names are those of our own tables.
        connection.exec_driver_sql(f"INSERT INTO {target} VALUES ({marks})", list(rows))  # noqa: S608
        return
    if not connection.in_transaction():
        connection.begin()  # what goes to the driver by itself would not be committed
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {target} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def finish(connection: Connection, layouts: Sequence[TableCodec]) -> None:
    """Bring what depends on the rows in step with them, and check it.

    Raises:
        MaintenanceError: a row refers to one that is not there, or an index is out of step.
    """
    if connection.dialect.name == "postgresql":
        for layout in layouts:
            if layout.counted_column is not None:
                _count_on(connection, layout.name, layout.counted_column)
        return
    dangling = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if dangling is not None:
        table, _, parent, _ = dangling
        raise MaintenanceError(f"A row of {table} refers to one of {parent} that is not there.")
    if faults := count_faults(connection) or text_faults(connection):
        raise MaintenanceError(f"{faults[0]} after all rows were written.")


def _clear_sqlite(connection: Connection, layouts: Sequence[TableCodec]) -> None:
    """The triggers stand aside: they would take the rows out of the indexes one by one, and fail
    where an index was out of step."""
    triggers = connection.exec_driver_sql(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
    ).all()
    for name, _ in triggers:
        connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
    for layout in reversed(layouts):
        connection.execute(layout.table.delete())
    empty_indexes(connection)
    for _, sql in triggers:
        connection.exec_driver_sql(sql)


def _count_on(connection: Connection, table: str, column: str) -> None:
    """Let the next row number come after those in use.

    A sequence is not part of the transaction: it is only ever set forward.
    """
    # S608: the names are those of our own tables.
    statement = (
        f'SELECT setval(name, greatest(nextval(name), (SELECT max("{column}") FROM {table}))) '  # noqa: S608
        f"FROM (SELECT pg_get_serial_sequence('{table}', '{column}')::regclass AS name) AS found "
        "WHERE name IS NOT NULL"
    )
    connection.exec_driver_sql(statement)
