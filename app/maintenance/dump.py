"""Reading tables as streams of lines, with a checksum of each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, func, inspect, select

from app.maintenance.table_codec import TableCodec
from app.values.batching import batched_by_bytes

OnRows = Callable[[int], None]  # called with the number of rows done since the last call

_ROWS_AT_ONCE: Final = 50  # in memory; a row may have megabytes of coordinates
_BATCH_ROWS: Final = 500
_BATCH_BYTES: Final = 8 * 1024 * 1024


@dataclass(slots=True)
class TableChecksum:
    """The number of lines of a table, and the SHA-256 over them."""

    rows: int = 0
    _hash: Any = field(default_factory=hashlib.sha256)

    def add(self, line: bytes) -> None:
        self.rows += 1
        self._hash.update(line)

    @property
    def sha256(self) -> str:
        digest: str = self._hash.hexdigest()
        return digest


def no_progress(_: int) -> None:
    """Report nothing."""


def read_lines(
    connection: Connection,
    codec: TableCodec,
    checksum: TableChecksum,
    progress: OnRows = no_progress,
) -> Generator[bytes, None, None]:
    """Yield the lines of a table, and add each to ``checksum``.

    Close the generator while the connection is open: it has a cursor on the server.
    """
    statement = codec.select(connection.dialect.name)
    options = {"yield_per": _ROWS_AT_ONCE}
    with connection.execute(statement, execution_options=options) as result:
        for row in result:
            line = codec.line(row)
            checksum.add(line)
            yield line
            progress(1)


def checksum_of(
    connection: Connection, codec: TableCodec, progress: OnRows = no_progress
) -> TableChecksum:
    """The checksum of a table."""
    checksum = TableChecksum()
    with closing(read_lines(connection, codec, checksum, progress)) as lines:
        for _ in lines:
            pass
    return checksum


def line_batches(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield lines in lists that fit into one statement."""
    return batched_by_bytes(lines, len, _BATCH_BYTES, _BATCH_ROWS)


def count_rows(connection: Connection, codecs: Iterable[TableCodec]) -> dict[str, int]:
    """The number of rows of each table that exists."""
    existing = set(inspect(connection).get_table_names())
    return {
        codec.name: connection.execute(select(func.count()).select_from(codec.table)).scalar_one()
        for codec in codecs
        if codec.name in existing
    }
