"""The search and box indexes that SQLite keeps beside the tables, filled by triggers (see the first
migration): ``<name>_text`` (FTS5) and ``<name>_box`` (R*Tree)."""

# ruff: noqa: S608 - the names in the statements are those of our own tables

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import URL, Connection
from sqlalchemy.exc import DatabaseError

from app.db.snapshots import exclusive_writer


class TableIndexes(NamedTuple):
    """A pair of indexes. Each row of the table has a text, and a box when ``placed`` is set."""

    name: str
    table: str
    placed: str


INDEXES: Final = (
    TableIndexes("projects", "projects", "west"),
    TableIndexes("assets", "assets", "longitude"),
    TableIndexes("account_assets", "assets", "longitude"),
)


def empty_indexes(connection: Connection) -> None:
    """Empty the indexes, also damaged ones. The tables must be empty."""
    for name, _, _ in INDEXES:
        connection.exec_driver_sql(f"INSERT INTO {name}_text({name}_text) VALUES ('delete-all')")
        connection.exec_driver_sql(f"DELETE FROM {name}_box")


def count_faults(connection: Connection) -> list[str]:
    """A sentence for each index with another number of rows than its table."""
    faults = []
    for name, table, placed in INDEXES:
        for index, found, wanted in (
            (f"{name}_text", f"{name}_text_docsize", "*"),
            (f"{name}_box", f"{name}_box", placed),
        ):
            has = _number(connection, f"SELECT count(*) FROM {found}")
            needs = _number(connection, f"SELECT count({wanted}) FROM {table}")
            if has != needs:
                faults.append(f"{index} has {has:,} rows instead of {needs:,}")
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
    """Rebuild the indexes that differ from their tables, and return their names. Changes wait
    meanwhile. PostgreSQL has no such indexes."""
    if url.get_backend_name() != "sqlite":
        return []
    with exclusive_writer(url, []) as connection:
        faults = count_faults(connection) + text_faults(connection)
    faulty = sorted({sentence.split()[0] for sentence in faults})
    for index in faulty:
        with exclusive_writer(url, []) as connection:
            _rebuild(connection, index)
    return faulty


def _rebuild(connection: Connection, index: str) -> None:
    name, _, kind = index.rpartition("_")
    if kind == "text":
        connection.exec_driver_sql(f"INSERT INTO {index}({index}) VALUES ('rebuild')")
        return
    table = next(each.table for each in INDEXES if each.name == name)
    trigger = connection.exec_driver_sql(
        f"SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = '{name}_enter'"
    ).scalar_one()
    # What the trigger does for a new row, for all rows.
    _, _, insert = trigger.rpartition(f"INSERT INTO {index} ")
    columns, _, rest = insert.partition(" WHERE ")
    condition, _, _ = rest.partition(";")
    chosen = f"{columns} FROM {table} AS new WHERE {condition}"
    connection.exec_driver_sql(f"DELETE FROM {index}")
    connection.exec_driver_sql(f"INSERT INTO {index} {chosen}")


def _number(connection: Connection, statement: str) -> int:
    return int(connection.exec_driver_sql(statement).scalar_one())
