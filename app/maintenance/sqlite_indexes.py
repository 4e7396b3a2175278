"""The search and box indexes of SQLite, ``<name>_text`` (FTS5) and ``<name>_box`` (R*Tree), which
triggers of the first migration fill."""

# ruff: noqa: S608 - the names in the statements are our own tables'

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import URL, Connection
from sqlalchemy.exc import DatabaseError

from app.db.snapshots import exclusive_writer


class TableIndexes(NamedTuple):
    """A text and a box index. Rows of the table have a box if ``box_column`` is set."""

    name: str
    table: str
    box_column: str


INDEXES: Final = (
    TableIndexes("projects", "projects", "west"),
    TableIndexes("assets", "assets", "longitude"),
    TableIndexes("account_assets", "assets", "longitude"),
)


def empty_indexes(connection: Connection) -> None:
    """Empty the indexes, even damaged ones. The tables must be empty."""
    for name, _, _ in INDEXES:
        connection.exec_driver_sql(f"INSERT INTO {name}_text({name}_text) VALUES ('delete-all')")
        connection.exec_driver_sql(f"DELETE FROM {name}_box")


def count_faults(connection: Connection) -> list[str]:
    """A sentence for each index with another number of rows than its table."""
    faults = []
    for name, table, box_column in INDEXES:
        for index, index_table, column in (
            (f"{name}_text", f"{name}_text_docsize", "*"),
            (f"{name}_box", f"{name}_box", box_column),
        ):
            rows = _select_number(connection, f"SELECT count(*) FROM {index_table}")
            expected = _select_number(connection, f"SELECT count({column}) FROM {table}")
            if rows != expected:
                faults.append(f"{index} has {rows:,} rows instead of {expected:,}")
    return faults


def text_faults(connection: Connection) -> list[str]:
    """A sentence for each search index that differs from the texts. Takes the write lock."""
    faults = []
    for name, _, _ in INDEXES:
        check = f"INSERT INTO {name}_text({name}_text, rank) VALUES ('integrity-check', 1)"
        try:
            connection.exec_driver_sql(check)
        except DatabaseError:
            faults.append(f"{name}_text does not agree with the texts")
    return faults


def rebuild_faulty(url: URL) -> list[str]:
    """Rebuild the indexes that differ from their tables, while changes wait. Returns their names;
    none on PostgreSQL."""
    if url.get_backend_name() != "sqlite":
        return []
    with exclusive_writer(url, []) as connection:
        faults = count_faults(connection) + text_faults(connection)
    faulty = sorted({sentence.split()[0] for sentence in faults})
    for index in faulty:
        with exclusive_writer(url, []) as connection:
            _rebuild_index(connection, index)
    return faulty


def _rebuild_index(connection: Connection, index: str) -> None:
    name, _, kind = index.rpartition("_")
    if kind == "text":
        connection.exec_driver_sql(f"INSERT INTO {index}({index}) VALUES ('rebuild')")
        return
    table = next(indexes.table for indexes in INDEXES if indexes.name == name)
    trigger = connection.exec_driver_sql(
        f"SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = '{name}_enter'"
    ).scalar_one()
    # Do for all rows what the trigger does for a new one.
    _, _, insert = trigger.rpartition(f"INSERT INTO {index} ")
    columns, _, rest = insert.partition(" WHERE ")
    condition, _, _ = rest.partition(";")
    rows = f"{columns} FROM {table} AS new WHERE {condition}"
    connection.exec_driver_sql(f"DELETE FROM {index}")
    connection.exec_driver_sql(f"INSERT INTO {index} {rows}")


def _select_number(connection: Connection, statement: str) -> int:
    return int(connection.exec_driver_sql(statement).scalar_one())
