"""The search and box indexes that SQLite keeps beside the tables, filled by triggers (see the first
migration): ``<table>_text`` (FTS5) and ``<table>_box`` (R*Tree)."""

# ruff: noqa: S608 - the names in the statements are those of our own tables

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError

# A row of these tables has a text, and a box when this column is set.
INDEXED: Final = {"projects": "west", "assets": "longitude"}


def empty_indexes(connection: Connection) -> None:
    """Empty the indexes, also damaged ones. The tables must be empty."""
    for table in INDEXED:
        connection.exec_driver_sql(f"INSERT INTO {table}_text({table}_text) VALUES ('delete-all')")
        connection.exec_driver_sql(f"DELETE FROM {table}_box")


def count_faults(connection: Connection) -> list[str]:
    """The indexes that have another number of rows than their tables, each as a sentence."""
    faults = []
    for table, placed in INDEXED.items():
        for index, found, wanted in (
            (f"{table}_text", f"{table}_text_docsize", "*"),
            (f"{table}_box", f"{table}_box", placed),
        ):
            has = _number(connection, f"SELECT count(*) FROM {found}")
            needs = _number(connection, f"SELECT count({wanted}) FROM {table}")
            if has != needs:
                faults.append(f"{index} has {has:,} rows instead of {needs:,}")
    return faults


def text_faults(connection: Connection) -> list[str]:
    """The search indexes that differ from the texts, each as a sentence. Takes the write lock."""
    faults = []
    for table in INDEXED:
        check = f"INSERT INTO {table}_text({table}_text, rank) VALUES ('integrity-check', 1)"
        try:
            connection.exec_driver_sql(check)
        except DatabaseError:
            faults.append(f"{table}_text does not agree with the texts")
    return faults


def _number(connection: Connection, statement: str) -> int:
    return int(connection.exec_driver_sql(statement).scalar_one())
