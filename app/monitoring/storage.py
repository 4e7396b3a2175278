"""Whether the database can store a change: its disk may be full, or the database be read-only."""

from __future__ import annotations

import mmap
import os
import struct
import time
from typing import Final

from flask import Flask, current_app
from sqlalchemy import Connection, insert
from sqlalchemy.exc import SQLAlchemyError

from app.db.engines import is_storage_fault, without_waiting
from app.db.postgresql.connection import reply_limit
from app.models import Mail
from app.values import clock

FAILED: Final = "failed"
UNKNOWN: Final = "unknown"
TRY_EVERY: Final = 5.0  # seconds

_EXTENSION: Final = "canopy_storage"
_REPLY_SECONDS: Final = 2.0
# On SQLite twice what a small change takes, with all pages that it touches. PostgreSQL writes rows
# that are rolled back to its log and keeps them until a vacuum, and one page tells as much.
_BYTES: Final = {"sqlite": 256 * 1024, "postgresql": 8 * 1024}
_RESULTS: Final = (UNKNOWN, "ok", FAILED)


class StorageTries:
    """The last try: its time and its result, in memory that the processes forked from this one
    share."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 16)

    def read(self) -> str:
        """Return the result of the last try, after another one if that is due."""
        at, result = struct.unpack("dI", self._memory[:12])
        now = time.monotonic()
        if at and now < at + TRY_EVERY:
            return _RESULTS[result]
        # The others take the last result meanwhile.
        self._memory[:12] = struct.pack("dI", now, result)
        result = _RESULTS.index(_try_write()) or result
        self._memory[:12] = struct.pack("dI", now, result)
        return _RESULTS[result]


def init_app(app: Flask) -> None:
    """Share the tries among the processes that will be forked from this one."""
    app.extensions[_EXTENSION] = StorageTries()


def storage_state() -> str:
    """Return ``ok`` or ``failed``, as of a try of at most ``TRY_EVERY`` seconds ago; ``unknown`` if
    none could be made, as while others write all the time."""
    tries: StorageTries = current_app.extensions[_EXTENSION]
    return tries.read()


def _try_write() -> str:
    """Write a row and roll it back."""
    try:
        with without_waiting() as connection, reply_limit(connection, _REPLY_SECONDS):
            is_sqlite = connection.dialect.name == "sqlite"
            if is_sqlite and _is_disk_full(connection):
                return FAILED
            try:
                if is_sqlite:
                    # With few pages in memory, the row goes to the disk before its transaction
                    # ends.
                    connection.exec_driver_sql("PRAGMA cache_size=1")
                    connection.exec_driver_sql("BEGIN IMMEDIATE")
                connection.execute(insert(Mail).values(_row(connection.dialect.name)))
            finally:
                connection.rollback()
                if is_sqlite:
                    connection.invalidate()  # it would keep the small cache
    except (SQLAlchemyError, OSError) as error:
        return FAILED if is_storage_fault(error) else UNKNOWN
    return "ok"


def _is_disk_full(connection: Connection) -> bool:
    """True if SQLite's disk has no room for a try. On a full one, its log has room for some changes
    whenever it begins anew, and health would change each time."""
    files = connection.exec_driver_sql("PRAGMA database_list").all()
    disk = os.statvfs(files[0].file)
    # A file system without a bound of its size has no blocks.
    return disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < _BYTES["sqlite"]


def _row(dialect: str) -> dict[str, object]:
    text = os.urandom(_BYTES[dialect] // 2).hex()  # it cannot be compressed by much
    name = f"storage_{os.getpid()}"
    values = {"id": name, "kind": name, "recipient": "", "cause": name, "turn_of": ""}
    return values | {"sealed": text, "attempts": 0, "created_at": clock.now()}
