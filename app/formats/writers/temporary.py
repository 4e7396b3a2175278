"""Files that exist only while they are open. They are unlinked before anything is written, so
nothing is left of them however the process ends."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO, Final

# There is no journal, which would need a name: after an error, the file is dropped.
_PRAGMAS: Final = (
    "journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE", "temp_store=MEMORY",
)  # fmt: skip
_DISK: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


@contextmanager
def new_file(folder: Path) -> Iterator[IO[bytes]]:
    """A file to write. When the block ends it stays open, at its beginning; when the block raises
    it is closed. Raises OSError."""
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile(dir=folder))
        yield file
        file.seek(0)
        stack.pop_all()


@contextmanager
def new_database(folder: Path) -> Iterator[tuple[sqlite3.Connection, IO[bytes]]]:
    """A new SQLite database and its file. The file stays open when the block ends, and is closed
    when the block raises.

    Raises:
        OSError: it cannot be written.
    """
    parent = Path(tempfile.mkdtemp(dir=folder))  # mode 0700
    try:
        file = (parent / "database").open("w+b")
        connection = sqlite3.connect(parent / "database", isolation_level=None)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    finally:
        shutil.rmtree(parent)
    try:
        with closing(connection):
            yield connection, file
    except BaseException as error:
        file.close()
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in _DISK:
            raise OSError(str(error)) from error
        raise
