"""The search and box indexes that SQLite keeps beside the tables, filled by triggers (see the first
migration): ``<name>_text`` (FTS5) and ``<name>_box`` (R*Tree)."""

# ruff: noqa: S608 - the names in the statements are those of our own tables

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError


class Indexes(NamedTuple):
    """A pair of indexes. Each row of the table has a text, and a box when ``placed`` is set."""

    name: str
    table: str
    placed: str


INDEXES: Final = (
    Indexes("projects", "projects", "west"),
    Indexes("assets", "assets", "longitude"),
    Indexes("account_assets", "assets", "longitude"),
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


def _number(connection: Connection, statement: str) -> int:
    return int(connection.exec_driver_sql(statement).scalar_one())
