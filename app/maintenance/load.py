"""Loading rows into tables, with SQLite's indexes and PostgreSQL's sequences."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import Connection

from app.maintenance import MaintenanceError
from app.maintenance.sqlite_indexes import count_faults, empty_indexes, text_faults
from app.maintenance.table_codec import Row, TableCodec

_SEQUENCES: Final = (
    "SELECT c.oid::regclass::text, a.attname,"
    " pg_get_serial_sequence(c.oid::regclass::text, a.attname)"
    " FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0"
    " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'"
    " AND NOT a.attisdropped"
    " AND pg_get_serial_sequence(c.oid::regclass::text, a.attname) IS NOT NULL"
)
_INDEXES: Final = (
    "SELECT type, name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"
    " OR type = 'view' AND name LIKE '%\\_words' ESCAPE '\\'"
)
_FUNCTIONS: Final = (
    "SELECT oid::regprocedure::text FROM pg_proc"
    " WHERE pronamespace = current_schema()::regnamespace AND starts_with(proname, 'canopy_')"
)


def clear_tables(connection: Connection, codecs: Sequence[TableCodec]) -> None:
    """Delete all rows in the current transaction."""
    if connection.dialect.name == "sqlite":
        _clear_sqlite(connection, codecs)
        return
    for codec in reversed(codecs):
        # TRUNCATE would show empty tables to concurrent readers.
        connection.execute(codec.table.delete())


def insert_rows(connection: Connection, codec: TableCodec, rows: Sequence[Row]) -> None:
    """Insert rows in the current transaction.

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
        connection.begin()  # or the COPY would not be committed
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {target} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def finish_load(connection: Connection) -> None:
    """Update sequences and check indexes, after all rows are written.

    Raises:
        MaintenanceError: a row refers to a missing one, or an index differs from its table.
    """
    if connection.dialect.name == "postgresql":
        advance_sequences(connection)
        return
    dangling = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if dangling is not None:
        table, _, parent, _ = dangling
        raise MaintenanceError(f"A row of {table} refers to a row of {parent} that does not exist.")
    if faults := count_faults(connection) or text_faults(connection):
        raise MaintenanceError(f"{faults[0]} after all rows were written.")


def _clear_sqlite(connection: Connection, codecs: Sequence[TableCodec]) -> None:
    """Delete all rows without triggers: they would update the indexes row by row, and fail if an
    index differs from its table."""
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


def advance_sequences(connection: Connection) -> None:
    """Set PostgreSQL's sequences past the numbers in use, and never back: a rollback does not reset
    them."""
    if connection.dialect.name != "postgresql":
        return
    for table, column, sequence in connection.exec_driver_sql(_SEQUENCES).all():
        # S608: the names are those of our own tables.
        statement = (
            f"SELECT setval('{sequence}', greatest(nextval('{sequence}'),"  # noqa: S608
            f' (SELECT max("{column}") FROM {table})))'
        )
        connection.exec_driver_sql(statement)


def drop_tables(connection: Connection, names: Collection[str]) -> None:
    """Drop tables, with their indexes, and the functions of indexes on PostgreSQL.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: something else depends on them.
    """
    quote = connection.dialect.identifier_preparer.quote
    if connection.dialect.name == "sqlite":
        # Indexes first: they have tables that only they can drop, and read views.
        for kind, name in connection.exec_driver_sql(_INDEXES).all():
            connection.exec_driver_sql(f"DROP {kind} {quote(name)}")
        for name in names:
            connection.exec_driver_sql(f"DROP TABLE {quote(name)}")
        return
    if names:
        connection.exec_driver_sql(f"DROP TABLE {', '.join(map(quote, names))}")
    for function in connection.exec_driver_sql(_FUNCTIONS).scalars().all():
        connection.exec_driver_sql(f"DROP FUNCTION {function}")
