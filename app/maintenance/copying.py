"""Moving the service from one database to another, SQLite to PostgreSQL or back.

A table in the target says that a copy is under way. So a copy that was stopped half way is told
from a database that somebody uses, and the next one begins anew: what the source was at the time of
the first cannot be had again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from sqlalchemy import URL, Connection, column, table

from app.db.snapshots import connect, exclusive_file, refresh_statistics, shown_url, snapshot
from app.maintenance.dump import (
    Progress,
    TableChecksum,
    batches,
    checksum_of,
    count_rows,
    no_progress,
    read_lines,
)
from app.maintenance.errors import MaintenanceError
from app.maintenance.load import clear, finish, insert
from app.maintenance.rows import TableCodec, table_codecs
from app.maintenance.schema import MARKER, is_half_copied, require_current, tables_of_others
from app.values import clock


@dataclass(frozen=True, slots=True)
class Comparison:
    """One table in the source and in the target."""

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
    progress: Progress = no_progress,
    started: Progress = no_progress,
) -> list[Comparison]:
    """Copy the source as it is now, and compare the two.

    Args:
        source: a database with the newest schema; it may be in use.
        target: a database without rows, or one into which a copy was not finished.
        make_schema: gives the target the newest schema.
        progress: called with the number of rows done since; a row counts when it is written and
            again when it was compared.
        started: called once, with the number of all that.

    Returns:
        The comparison of each table. When they differ, the target stays marked as unfinished.

    Raises:
        MaintenanceError: the target is in use, or the source is not of the newest schema.
        sqlalchemy.exc.SQLAlchemyError, psycopg.Error: a database fails.
    """
    if source == target:
        raise MaintenanceError("The source and the target are the same database; name another one.")
    all_layouts = table_codecs()
    with snapshot(source) as reading:
        require_current(reading)
        _mark(target, source)
        make_schema()
        started(2 * sum(count_rows(reading, all_layouts).values()))
        with exclusive_file(target) as writing:
            if writing is None:
                raise MaintenanceError(
                    f"The database {shown_url(target)} is in use; end what uses it and try again."
                )
            comparisons = _copy(reading, writing, all_layouts, progress)
            if all(comparison.is_equal for comparison in comparisons):
                writing.exec_driver_sql(f"DROP TABLE {MARKER}")
                writing.commit()
    refresh_statistics(target)
    return comparisons


def _mark(target: URL, source: URL) -> None:
    """Say in the target that a copy is under way, unless somebody else uses it."""
    with connect(target) as connection:
        if is_half_copied(connection):
            return
        name = shown_url(target)
        if others := tables_of_others(connection):
            raise MaintenanceError(
                f"The database {name} holds tables of something else "
                f"({', '.join(others[:5])}); name an empty database."
            )
        if any(count_rows(connection, table_codecs()).values()):
            raise MaintenanceError(
                f"The database {name} holds data, which a copy would mix with; "
                "name an empty database."
            )
        connection.exec_driver_sql(
            f"CREATE TABLE {MARKER} (source varchar(500) NOT NULL, begun_at varchar(24) NOT NULL)"
        )
        marker = table(MARKER, column("source"), column("begun_at"))
        begun_at = clock.format_time(clock.now())
        connection.execute(marker.insert().values(source=shown_url(source), begun_at=begun_at))


def _copy(
    reading: Connection, writing: Connection, all_layouts: list[TableCodec], progress: Progress
) -> list[Comparison]:
    clear(writing, all_layouts)
    writing.commit()
    read = [_copy_table(reading, writing, layout, progress) for layout in all_layouts]
    finish(writing, all_layouts)
    writing.commit()
    found = [checksum_of(writing, layout, progress) for layout in all_layouts]
    writing.rollback()
    return [
        Comparison(layout.name, one.rows, other.rows, one.sha256, other.sha256)
        for layout, one, other in zip(all_layouts, read, found, strict=True)
    ]


def _copy_table(
    reading: Connection, writing: Connection, layout: TableCodec, progress: Progress
) -> TableChecksum:
    tally = TableChecksum()
    with closing(read_lines(reading, layout, tally)) as lines:
        for batch in batches(lines):
            insert(writing, layout, [layout.row(line) for line in batch])
            writing.commit()
            progress(len(batch))
    return tally
