"""Restoring a backup: replacing the rows of a database by those of the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from sqlalchemy import URL, Connection, Table, update

from app.db.migrations import newest_revision
from app.db.snapshots import exclusive_writer, may_exist, refresh_statistics, snapshot
from app.maintenance import MaintenanceError
from app.maintenance.archive import BackupReader, Manifest
from app.maintenance.dump import OnRows, TableChecksum, batches, count_rows, no_progress
from app.maintenance.load import clear, finish, insert
from app.maintenance.rows import TableCodec, table_codecs
from app.maintenance.schema import require_current
from app.models import Account
from app.policy.deletion import DELETED_AFTER
from app.values import clock
from app.values.version import describe


def check(backup: BackupReader, progress: OnRows = no_progress) -> None:
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
    """The number of rows of each table that the database has."""
    if not may_exist(url):
        return {}
    with snapshot(url) as connection:
        return count_rows(connection, table_codecs())


def restore(backup: BackupReader, url: URL, progress: OnRows = no_progress) -> list[str]:
    """Replace all rows of the database, in one transaction.

    Until it is committed, readers see the old rows and writers wait. Deletions of accounts that
    were scheduled when the backup was made are put off, as they may have been canceled since.

    Returns the slugs of these accounts.

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
        put_off = _put_off_deletions(connection)
        finish(connection, codecs)
    refresh_statistics(url)
    return put_off


def _put_off_deletions(connection: Connection) -> list[str]:
    """Let owners cancel scheduled deletions for as long as if they were scheduled now."""
    accounts, earliest = cast("Table", Account.__table__), clock.now() + DELETED_AFTER
    is_sooner = accounts.c.deletes_at < earliest
    put_off = update(accounts).where(is_sooner).values(deletes_at=earliest)
    return sorted(connection.scalars(put_off.returning(accounts.c.slug)))


def _checked_again(backup: BackupReader, codec: TableCodec) -> Iterator[bytes]:
    """The lines of a table, compared with the manifest again: the file may have been replaced."""
    checksum = TableChecksum()
    for line in backup.lines(codec.name):
        checksum.add(line)
        yield line
    if checksum.sha256 != backup.manifest.table(codec.name).sha256:
        raise MaintenanceError(
            "The backup file changed during the restore, so nothing was restored."
        )


def _of_another_schema(manifest: Manifest) -> str:
    maker = describe(manifest.service_version, manifest.commit)
    return (
        f"The backup has schema {manifest.schema_revision}, but this version of Canopy needs "
        f"{newest_revision()}. Restore it with the version of Canopy that made it, "
        f"{maker}, then start this version, which migrates the database."
    )
