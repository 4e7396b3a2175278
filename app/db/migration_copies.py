"""Copies of SQLite files before a migration, next to them. The last one is kept."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection

from app.values.command_name import canopy_command

_MEGABYTE = 1_000_000


def keep_copy(connection: Connection, revision: str) -> Path:
    """Copy the file whose write lock a transaction holds, and delete former copies.

    Args:
        revision: revision of the tables, for the name of the copy.

    Raises:
        OSError: there is no space for the copy and the migration, which needs as much, or the copy
            cannot be written.
    """
    database = Path(str(connection.engine.url.database)).absolute()
    copy = database.with_name(f"{database.name}.revision-{revision}")
    draft = copy.with_name(f"{copy.name}.part")
    _require_space(connection, database)
    try:
        with (
            closing(sqlite3.connect(f"file:{quote(str(database))}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(draft)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # else the copy would be several files
        draft.chmod(0o600)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(copy)
    except sqlite3.Error as error:
        raise OSError(f"{copy} cannot be written ({error})") from error
    finally:
        draft.unlink(missing_ok=True)
    for former in database.parent.glob(f"{database.name}.revision-*"):
        if former != copy:
            former.unlink()
    return copy


def _require_space(connection: Connection, database: Path) -> None:
    pages, size = (
        int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
        for name in ("page_count", "page_size")
    )
    needed, free = 2 * pages * size, shutil.disk_usage(database.parent).free
    if free < needed:
        raise OSError(
            f"it and the migration need {needed / _MEGABYTE:,.0f} MB, and {free / _MEGABYTE:,.0f} "
            f"MB are free in {database.parent}. Free some space, or copy the file elsewhere and "
            f"run: {canopy_command()} migrate --without-copy"
        )
