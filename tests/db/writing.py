"""Connections that write to a SQLite file one after the other, and what they wrote."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from app.db.write_queue import QueuedConnection, join_queue


def opened(path: Path, milliseconds: int = 60_000) -> QueuedConnection:
    connection = sqlite3.connect(
        path,
        timeout=milliseconds / 1000,
        isolation_level=None,
        check_same_thread=False,
        factory=QueuedConnection,
    )
    join_queue(connection)
    return connection


def begin(connection: QueuedConnection) -> None:
    with connection.queued():
        connection.execute("BEGIN IMMEDIATE")


def insert(connection: sqlite3.Connection, value: str) -> None:
    connection.execute("INSERT INTO texts (text) VALUES (?)", [value])
    connection.commit()


def texts(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT text FROM texts ORDER BY id")]


def fails_to_begin(connection: QueuedConnection) -> None:
    with pytest.raises(sqlite3.OperationalError, match="database is locked"):
        begin(connection)


def can_begin(path: Path) -> bool:
    """Whether another change can begin, be it late."""
    return _begins(path, 60_000)


def is_locked(path: Path) -> bool:
    """Whether no other change can begin now."""
    return not _begins(path, 100)


def _begins(path: Path, milliseconds: int) -> bool:
    with closing(opened(path, milliseconds)) as connection, suppress(sqlite3.OperationalError):
        begin(connection)
        return True
    return False
