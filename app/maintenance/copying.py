"""Copying a database into another one, SQLite to PostgreSQL or back.

A table marks a target whose copy is not finished, and tells it from a database in use. The next
copy starts from the beginning, as the source may have changed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from sqlalchemy import URL, Connection, column, table

from app.db.snapshots import (
    exclusive_file,
    open_snapshot,
    open_transaction,
    refresh_statistics,
    shown_url,
)
from app.maintenance import MaintenanceError
from app.maintenance.dump import (
    OnRows,
    TableChecksum,
    checksum_of,
    count_rows,
    line_batches,
    no_progress,
    read_lines,
)
from app.maintenance.load import clear_tables, finish_load, insert_rows
from app.maintenance.schema import MARKER, is_half_copied, require_current, tables_of_others
from app.maintenance.table_codec import TableCodec, table_codecs
from app.values import clock


@dataclass(frozen=True, slots=True)
class TableComparison:
    """The rows and checksum of one table in the source and in the target."""

    table: str
    source_rows: int
    target_rows: int
    source_sha256: str
    target_sha256: str

    @property
    def is_equal(self) -> bool:
        return (self.source_rows, self.source_sha256) == (self.target_rows, self.target_sha256)


def copy_database(
    source: URL,
    target: URL,
    *,
    make_schema: Callable[[], None],
    progress: OnRows = no_progress,
    started: OnRows = no_progress,
) -> list[TableComparison]:
    """Copy a snapshot of the source, and compare the two databases.

    Args:
        source: a database with the newest schema; it may be in use.
        target: a database without rows, or one with an unfinished copy.
        make_schema: creates the newest schema in the target.
        progress: called with the number of rows since the last call; each row counts twice, when
            it is written and when it is compared.
        started: called once with the total of these numbers.

    Returns:
        The comparison of each table. If tables differ, the target stays marked as unfinished.

    Raises:
        MaintenanceError: the target is in use, or the source has another schema.
        sqlalchemy.exc.SQLAlchemyError, psycopg.Error: a database fails.
    """
    if source == target:
        raise MaintenanceError("The source and the target are the same database; name another one.")
    codecs = table_codecs()
    with open_snapshot(source) as reading:
        require_current(reading)
        _mark_target(target, source)
        make_schema()
        started(2 * sum(count_rows(reading, codecs).values()))
        with exclusive_file(target) as writing:
            if writing is None:
                raise MaintenanceError(
                    f"The database {shown_url(target)} is in use; stop what uses it and try again."
                )
            comparisons = _copy_tables(reading, writing, codecs, progress)
            if all(comparison.is_equal for comparison in comparisons):
                writing.exec_driver_sql(f"DROP TABLE {MARKER}")
                writing.commit()
    refresh_statistics(target)
    return comparisons


def _mark_target(target: URL, source: URL) -> None:
    """Mark the target as an unfinished copy. Raises MaintenanceError if it is in use."""
    with open_transaction(target) as connection:
        if is_half_copied(connection):
            return
        name = shown_url(target)
        if others := tables_of_others(connection):
            raise MaintenanceError(
                f"The database {name} contains tables of another program "
                f"({', '.join(others[:5])}); name an empty database."
            )
        if any(count_rows(connection, table_codecs()).values()):
            raise MaintenanceError(
                f"The database {name} already contains data; name an empty database."
            )
        connection.exec_driver_sql(
            f"CREATE TABLE {MARKER} (source varchar(500) NOT NULL, begun_at varchar(24) NOT NULL)"
        )
        marker = table(MARKER, column("source"), column("begun_at"))
        begun_at = clock.format_time(clock.now())
        connection.execute(marker.insert().values(source=shown_url(source), begun_at=begun_at))


def _copy_tables(
    reading: Connection, writing: Connection, codecs: list[TableCodec], progress: OnRows
) -> list[TableComparison]:
    clear_tables(writing, codecs)
    writing.commit()
    source_checksums = [_copy_table(reading, writing, codec, progress) for codec in codecs]
    finish_load(writing)
    writing.commit()
    target_checksums = [checksum_of(writing, codec, progress) for codec in codecs]
    writing.rollback()
    return [
        TableComparison(codec.name, source.rows, target.rows, source.sha256, target.sha256)
        for codec, source, target in zip(codecs, source_checksums, target_checksums, strict=True)
    ]


def _copy_table(
    reading: Connection, writing: Connection, codec: TableCodec, progress: OnRows
) -> TableChecksum:
    checksum = TableChecksum()
    with closing(read_lines(reading, codec, checksum)) as lines:
        for batch in line_batches(lines):
            insert_rows(writing, codec, [codec.row(line) for line in batch])
            writing.commit()
            progress(len(batch))
    return checksum
