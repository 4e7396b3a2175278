"""Reading all tables as a stream of lines, counted and summed up on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, func, inspect, select

from app.maintenance.rows import TableCodec

Progress = Callable[[int], None]  # called with the number of rows that were done since

# Rows may be megabytes of coordinates: so many are in memory at once, and no more.
_ROWS_AT_ONCE: Final = 50
_BATCH_ROWS: Final = 500
_BATCH_BYTES: Final = 8 * 1024 * 1024


@dataclass(slots=True)
class TableChecksum:
    """How many lines there were, and the SHA-256 over them."""

    rows: int = 0
    _hash: Any = field(default_factory=hashlib.sha256)

    def add(self, line: bytes) -> None:
        self.rows += 1
        self._hash.update(line)

    @property
    def sha256(self) -> str:
        text: str = self._hash.hexdigest()
        return text


def no_progress(_: int) -> None:
    """For those who do not watch."""


def read_lines(
    connection: Connection,
    layout: TableCodec,
    tally: TableChecksum,
    progress: Progress = no_progress,
) -> Generator[bytes, None, None]:
    """The lines of a table, with memory for a few of them; ``tally`` counts them.

    Close it (``contextlib.closing``) while the connection is open: it has a cursor in the server.
    """
    statement = layout.select(connection.dialect.name)
    options = {"yield_per": _ROWS_AT_ONCE}
    with connection.execute(statement, execution_options=options) as result:
        for row in result:
            line = layout.line(row)
            tally.add(line)
            yield line
            progress(1)


def checksum_of(
    connection: Connection, layout: TableCodec, progress: Progress = no_progress
) -> TableChecksum:
    """The tally of a table."""
    tally = TableChecksum()
    with closing(read_lines(connection, layout, tally, progress)) as lines:
        for _ in lines:
            pass
    return tally


def batches(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lines in lists that are short enough for one statement."""
    batch: list[bytes] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line)
        if len(batch) >= _BATCH_ROWS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def count_rows(connection: Connection, layouts: Iterable[TableCodec]) -> dict[str, int]:
    """How many rows each table has, of those that there are."""
    there = set(inspect(connection).get_table_names())
    return {
        layout.name: connection.execute(select(func.count()).select_from(layout.table)).scalar_one()
        for layout in layouts
        if layout.name in there
    }
