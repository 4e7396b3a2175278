"""Filling the tables of a database, and updating what depends on their rows: SQLite's indexes,
which triggers fill, and PostgreSQL's sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from app.maintenance import MaintenanceError
from app.maintenance.indexes import count_faults, empty_indexes, text_faults
from app.maintenance.rows import Row, TableCodec


def clear(connection: Connection, codecs: Sequence[TableCodec]) -> None:
    """Delete all rows, in the current transaction."""
    if connection.dialect.name == "sqlite":
        _clear_sqlite(connection, codecs)
        return
    for codec in reversed(codecs):
        # Not TRUNCATE: concurrent readers would see empty tables.
        connection.execute(codec.table.delete())


def insert(connection: Connection, codec: TableCodec, rows: Sequence[Row]) -> None:
    """Add rows, in the current transaction.

    Raises:
        sqlalchemy.exc.SQLAlchemyError, psycopg.Error: the database rejects one.
    """
    quote = connection.dialect.identifier_preparer.quote
    target = f"{quote(codec.name)} ({', '.join(quote(name) for name in codec.columns)})"
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(codec.columns))
        # S608: the names are those of our own tables.
        connection.exec_driver_sql(f"INSERT INTO {target} VALUES ({marks})", list(rows))  # noqa: S608
        return
    if not connection.in_transaction():
        connection.begin()  # else the statements of the driver would not be committed
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {target} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def finish(connection: Connection, codecs: Sequence[TableCodec]) -> None:
    """Update and check indexes and sequences, after all rows were written.

    Raises:
        MaintenanceError: a row refers to one that is missing, or an index differs from its table.
    """
    if connection.dialect.name == "postgresql":
        for codec in codecs:
            if codec.autoincrement_column is not None:
                _advance_sequence(connection, codec.name, codec.autoincrement_column)
        return
    dangling = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if dangling is not None:
        table, _, parent, _ = dangling
        raise MaintenanceError(f"A row of {table} refers to a row of {parent} that does not exist.")
    if faults := count_faults(connection) or text_faults(connection):
        raise MaintenanceError(f"{faults[0]} after all rows were written.")


def _clear_sqlite(connection: Connection, codecs: Sequence[TableCodec]) -> None:
    """Delete all rows without the triggers, which would update the indexes row by row, and fail
    where an index differs from its table."""
    triggers = connection.exec_driver_sql(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
    ).all()
    for name, _ in triggers:
        connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
    for codec in reversed(codecs):
        connection.execute(codec.table.delete())
    empty_indexes(connection)
    for _, sql in triggers:
        connection.exec_driver_sql(sql)


def _advance_sequence(connection: Connection, table: str, column: str) -> None:
    """Set the sequence past the numbers in use.

    A rollback does not reset a sequence, so it is never set back.
    """
    # S608: the names are those of our own tables.
    statement = (
        f'SELECT setval(name, greatest(nextval(name), (SELECT max("{column}") FROM {table}))) '  # noqa: S608
        f"FROM (SELECT pg_get_serial_sequence('{table}', '{column}')::regclass AS name) AS found "
        "WHERE name IS NOT NULL"
    )
    connection.exec_driver_sql(statement)
