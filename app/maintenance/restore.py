"""Replacing the rows of a database by those of a backup."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import URL

from app.db.migrations import newest_revision
from app.db.snapshots import exclusive_writer, may_exist, refresh_statistics, snapshot
from app.maintenance.archive import Manifest, Reader
from app.maintenance.dump import Progress, TableChecksum, batches, count_rows, no_progress
from app.maintenance.errors import MaintenanceError
from app.maintenance.load import clear, finish, insert
from app.maintenance.rows import TableCodec, table_codecs
from app.maintenance.schema import require_current


def check(backup: Reader, progress: Progress = no_progress) -> None:
    """Read the whole backup, and check that this version can restore it.

    Raises:
        MaintenanceError: it is damaged, or of another schema.
    """
    if backup.manifest.schema_revision != newest_revision():
        raise MaintenanceError(_of_another_schema(backup.manifest))
    codecs = table_codecs()
    backup.check_columns(codecs)
    for codec in codecs:
        for rows in backup.check_rows(codec):
            progress(rows)


def rows_now(url: URL) -> dict[str, int]:
    """How many rows each table of the database has, for the tables that exist."""
    if not may_exist(url):
        return {}
    with snapshot(url) as connection:
        return count_rows(connection, table_codecs())


def restore(backup: Reader, url: URL, progress: Progress = no_progress) -> None:
    """Replace all rows of the database, in one transaction.

    Until it is committed, readers see the old rows and writers wait.

    Raises:
        MaintenanceError: the schema is not the newest, or the rows do not fit together; nothing
            was changed.
        sqlalchemy.exc.SQLAlchemyError, psycopg.Error: the same, as the database says it.
    """
    codecs = table_codecs()
    with snapshot(url) as connection:
        require_current(connection)
    with exclusive_writer(url, [codec.name for codec in codecs]) as connection:
        clear(connection, codecs)
        for codec in codecs:
            for batch in batches(_checked_again(backup, codec)):
                insert(connection, codec, [codec.row(line) for line in batch])
                progress(len(batch))
        finish(connection, codecs)
    refresh_statistics(url)


def _checked_again(backup: Reader, codec: TableCodec) -> Iterator[bytes]:
    """The file may have been replaced since it was checked."""
    checksum = TableChecksum()
    for line in backup.lines(codec.name):
        checksum.add(line)
        yield line
    if checksum.sha256 != backup.manifest.table(codec.name).sha256:
        raise MaintenanceError(
            "The backup file changed during the restore, so nothing was restored."
        )


def _of_another_schema(manifest: Manifest) -> str:
    return (
        f"The backup has schema {manifest.schema_revision}, but this version of Canopy needs "
        f"{newest_revision()}. Restore it with the version of Canopy that made it, "
        f"{manifest.service_version}, then start this version, which migrates the database."
    )
