"""SQLite databases of strangers. Only the stored rows of plain tables are read.

A schema can have views, triggers, virtual tables and expressions, which run code and read other
files. None of them is used: the authorizer permits only reading columns of tables whose definition
is that of a plain one.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final

from app.formats.features import FileInvalid
from app.policy.files import DATABASE_STEPS, GEOMETRY_BYTES, ZIP_RATIO, ZIP_SMALL_BYTES

_STEPS: Final = 10_000  # between two calls of the progress handler
_SQL_BYTES: Final = 1024 * 1024  # of each definition in the schema
_PRAGMAS: Final = ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON")
_ROW_BYTES: Final = 100  # that a row counts for, without its values
_NO_CHARACTER: Final = "\ufffd"
_COMPUTED: Final = 2  # SQLite's mark of a computed column
_WRITE_AHEAD: Final = b"\x02\x02"  # the versions for writing and reading in the header

_FOLDED: Final = str.maketrans(ascii_uppercase, ascii_lowercase)  # as SQLite compares names
# The name in the definition of a plain table, as SQLite stores it.
_TABLE: Final = re.compile(
    r"""\ACREATE\ TABLE\ \s*+(?:(["'`])((?:\1\1|(?!\1).)*+)\1"""
    r"""|\[([^]]*+)\]|([^\s"'`\[(/-]++))\s*+\(""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class SqliteColumn:
    """A column of a table. ``type``: as declared, in capitals; ``is_computed``: it is not stored,
    but computed when it is read."""

    name: str
    type: str
    is_key: bool
    is_computed: bool


class SqliteFile:
    """An open database. ``is_in_use``: a program had it open when it was copied, so the last
    changes may be missing."""

    def __init__(self, path: Path) -> None:
        """Open a database.

        Raises:
            FileInvalid: it is no database, or damaged.
        """
        with path.open("rb") as file:
            header = file.read(20)
        if not header.startswith(b"SQLite format 3\0"):
            raise FileInvalid("The file is not a GeoPackage: it is no SQLite database.")
        self.is_in_use = header[18:20] == _WRITE_AHEAD
        self._readable = {"sqlite_master"}
        # Of the rows of a table: where pages refer to each other falsely, some are read often.
        self._most_bytes = max(ZIP_SMALL_BYTES, ZIP_RATIO * path.stat().st_size)
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        self._connection = sqlite3.connect(uri, uri=True, isolation_level=None)
        try:
            self._restrict()
            self._tables = dict(self._plain_tables())
            self._readable.update(self._tables.values())
        except FileInvalid:
            self.close()
            raise

    def find_table(self, name: str) -> str | None:
        """The name in the schema of a table that can be read.

        None: there is none of this name, or it is a view, a virtual table or one of SQLite's own.
        """
        return self._tables.get(name.translate(_FOLDED))

    def columns(self, table: str) -> Iterator[SqliteColumn]:
        """Yield the columns of a table. Raises as ``read_rows``."""
        for _, name, kind, _, _, key, hidden in self._rows(
            f"PRAGMA table_xinfo({quoted_identifier(table)})"
        ):
            if _NO_CHARACTER in name:  # the name is not UTF-8, so no query can have it
                raise _damaged_file()
            yield SqliteColumn(name, kind.upper(), key > 0, hidden == _COMPUTED)

    def count(self, table: str) -> int:
        """The number of rows of a table. Raises as ``read_rows``."""
        # count(1), not count(*): that is a single step for SQLite, endless in a damaged table.
        sql = f"SELECT count(1) FROM {quoted_identifier(table)} NOT INDEXED"  # noqa: S608 - it is quoted
        ((count,),) = self._rows(sql)
        return int(count)

    def read_rows(self, table: str, columns: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the values of some columns in all rows of a table, one row at a time.

        Raises:
            FileInvalid: the database is damaged, a value is too large, all have far more in them
                than the file, it takes too long, or the table has no such stored columns.
        """
        # SQLite reads an unknown name as a text, and asks no authorizer before it computes a
        # column.
        columns = tuple(columns)
        stored = {column.name for column in self.columns(table) if not column.is_computed}
        if not stored.issuperset(columns):
            raise _damaged_file()
        names = ", ".join(map(quoted_identifier, columns))
        sql = f"SELECT {names} FROM {quoted_identifier(table)} NOT INDEXED"  # noqa: S608 - they are quoted
        left = self._most_bytes
        for row in self._rows(sql):
            left -= _ROW_BYTES + sum(len(value) for value in row if isinstance(value, str | bytes))
            if left < 0:
                raise _damaged_file()
            yield row

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _restrict(self) -> None:
        connection = self._connection
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, GEOMETRY_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _SQL_BYTES)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        ends = chain(repeat(0, DATABASE_STEPS // _STEPS), repeat(1))
        connection.set_progress_handler(partial(next, ends), _STEPS)
        connection.set_authorizer(self._authorize)

    def _authorize(
        self, action: int, first: str | None, second: str | None, _: str | None, by: str | None
    ) -> int:
        """Allow or deny an action of a statement. ``by`` is the view or trigger that causes it."""
        allowed = by is None and (
            action == sqlite3.SQLITE_SELECT
            or (action == sqlite3.SQLITE_READ and first in self._readable)
            or (action == sqlite3.SQLITE_FUNCTION and second == "count")
            or (
                action == sqlite3.SQLITE_PRAGMA
                and first == "table_xinfo"
                and second in self._readable
            )
        )
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def _plain_tables(self) -> Iterator[tuple[str, str]]:
        """Yield the lower-case name and the name of each table that stores rows.

        Only the name in the definition counts; the name and the type in the list of the schema may
        differ. SQLite rejects a schema that defines a name twice.
        """
        for (definition,) in self._rows("SELECT sql FROM sqlite_master WHERE rootpage > 0"):
            if isinstance(definition, str) and (match := _TABLE.match(definition)):
                quote, quoted, *bare = match.groups()
                name = quoted.replace(2 * quote, quote) if quote else bare[0] or bare[1] or ""
                folded = name.translate(_FOLDED)
                if not folded.startswith("sqlite_") and "\0" not in name:
                    yield folded, name

    def _rows(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query. Raises as ``read_rows``."""
        try:
            # Not "yield from": that closes the cursor, which fails once the database is closed.
            for row in self._connection.execute(sql):  # noqa: UP028
                yield row
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter: SQLite's own message
            raise _file_fault(error) from None


def _file_fault(error: Exception) -> FileInvalid:
    code = getattr(error, "sqlite_errorcode", None)
    if code == sqlite3.SQLITE_TOOBIG:
        return FileInvalid(
            f"A value in the GeoPackage is larger than {GEOMETRY_BYTES // 2**20} MiB. Divide the "
            "feature, or leave it out."
        )
    if code == sqlite3.SQLITE_INTERRUPT:
        return FileInvalid("The GeoPackage takes too long to read. Split it.")
    return _damaged_file()


def _damaged_file() -> FileInvalid:
    return FileInvalid("The GeoPackage is damaged or incomplete. Export it again.")


def quoted_identifier(name: str) -> str:
    """A name of a table or column for SQL."""
    return '"' + name.replace('"', '""') + '"'
