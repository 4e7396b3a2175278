"""Restoring a backup: replacing the rows of a database with the file's.

If database and backup both have the tables of this version, the tables stay. Otherwise they are
created as in the backup's version, filled, and then migrated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

from sqlalchemy import URL, Connection, Table, inspect, select, text, update

from app.db.migrations import CannotMigrate, apply_revisions
from app.db.revisions import FIRST, newest_revision, of_another_version, revision_of
from app.db.snapshots import exclusive_writer, may_exist, open_snapshot, refresh_statistics
from app.maintenance import MaintenanceError
from app.maintenance.backup_file import BackupReader, Manifest
from app.maintenance.dump import OnRows, TableChecksum, count_rows, line_batches, no_progress
from app.maintenance.load import (
    advance_sequences,
    clear_tables,
    drop_tables,
    finish_load,
    insert_rows,
)
from app.maintenance.schema import codecs_at, require_whole, tables_to_drop
from app.maintenance.table_codec import TableCodec, table_codecs
from app.models import Account, InstanceState
from app.policy.deletion import DELETED_AFTER
from app.values import clock
from app.values.version import describe_version


def check_backup(backup: BackupReader, progress: OnRows = no_progress) -> None:
    """Read the whole backup, and check that this version can restore it.

    Raises:
        MaintenanceError: it is damaged, of a newer version, or of one before 1.0.
    """
    for codec in _backup_codecs(backup):
        for rows in backup.check_rows(codec):
            progress(rows)


class PresentData(NamedTuple):
    """The present state of a database: its revision, None without tables; the rows of each known
    table; the names of unknown tables, which a restore would drop; and whether an operator has
    switched off all sending."""

    revision: str | None
    rows: dict[str, int]
    unknown: list[str]
    is_outbound_off: bool


def read_present(url: URL) -> PresentData:
    """Read what a restore would replace.

    Raises:
        MaintenanceError: the database is of a version before 1.0, or an unfinished copy.
    """
    if not may_exist(url):
        return PresentData(None, {}, [], False)
    with open_snapshot(url) as connection:
        revision = require_whole(connection) if revision_of(connection) else None
        if revision is not None and revision < FIRST:
            raise MaintenanceError(of_another_version(revision))
        rows = count_rows(connection, table_codecs())
        known = {*rows, "alembic_version"}
        unknown = [name for name in tables_to_drop(connection, ()) if name not in known]
        return PresentData(revision, rows, unknown, _is_outbound_off(connection))


def restore_backup(
    backup: BackupReader, url: URL, progress: OnRows = no_progress, *, is_test_copy: bool = False
) -> list[str]:
    """Replace all rows of the database, in one transaction.

    Until the commit, readers see the old rows and writers wait; on PostgreSQL, readers wait too if
    tables are created. Scheduled deletions of accounts are put off, as they may have been canceled
    since the backup. Sending stays off if it was off before. Needs an app context.

    Args:
        is_test_copy: send nothing out afterwards, until an operator switches that on.

    Returns the slugs of the accounts whose deletions were put off.

    Raises:
        CannotMigrate, MaintenanceError, sqlalchemy.exc.SQLAlchemyError, psycopg.Error: the rows do
            not fit together; nothing was changed.
    """
    revision, codecs = backup.manifest.schema_revision, _backup_codecs(backup)
    present = read_present(url)
    is_current = present.revision == revision == newest_revision()
    tables = [codec.name for codec in codecs] if is_current else []
    with exclusive_writer(url, tables, create=True) as connection:
        if is_current:
            clear_tables(connection, codecs)
        else:
            drop_tables(connection, tables_to_drop(connection, backup.manifest.rows()))
            apply_revisions(connection, revision)
        for codec in codecs:
            for batch in line_batches(_checked_again(backup, codec)):
                insert_rows(connection, codec, [codec.row(line) for line in batch])
                progress(len(batch))
        if revision != newest_revision():
            advance_sequences(connection)
            apply_revisions(connection)
        put_off = _put_off_deletions(connection)
        if is_test_copy or present.is_outbound_off:
            _switch_outbound_off(connection)
        finish_load(connection)
    refresh_statistics(url)
    return put_off


def _backup_codecs(backup: BackupReader) -> list[TableCodec]:
    """The codecs of the tables of a backup. Raises MaintenanceError as ``check_backup`` does."""
    manifest = backup.manifest
    try:
        codecs = codecs_at(manifest.schema_revision)
    except CannotMigrate:
        raise MaintenanceError(_unknown_version(manifest)) from None
    backup.check_columns(codecs)
    return [TableCodec(codec.table, manifest.table(codec.name).columns) for codec in codecs]


def _put_off_deletions(connection: Connection) -> list[str]:
    """Postpone scheduled deletions as if they were scheduled now. Returns the slugs."""
    accounts, earliest = cast("Table", Account.__table__), clock.now() + DELETED_AFTER
    is_sooner = accounts.c.deletes_at < earliest
    put_off = update(accounts).where(is_sooner).values(deletes_at=earliest)
    return sorted(connection.scalars(put_off.returning(accounts.c.slug)))


def _is_outbound_off(connection: Connection) -> bool:
    """True if the switch of the database, which may be of another version, is off."""
    present = inspect(connection)
    if not present.has_table("instance_state"):
        return False
    names = {column["name"] for column in present.get_columns("instance_state")}
    if "outbound_off_at" not in names:
        return False
    return bool(connection.scalar(text("SELECT count(outbound_off_at) FROM instance_state")))


def _switch_outbound_off(connection: Connection) -> None:
    """Switch off all sending, before anybody sees the restored rows."""
    state = cast("Table", InstanceState.__table__)
    if connection.scalar(select(state.c.id)) is None:
        connection.execute(state.insert().values(id=1))
    off = update(state).where(state.c.outbound_off_at.is_(None))
    connection.execute(off.values(outbound_off_at=clock.now()))


def _checked_again(backup: BackupReader, codec: TableCodec) -> Iterator[bytes]:
    """Yield the lines of a table, and compare their checksum again: the file may have changed."""
    checksum = TableChecksum()
    for line in backup.lines(codec.name):
        checksum.add(line)
        yield line
    if checksum.sha256 != backup.manifest.table(codec.name).sha256:
        raise MaintenanceError(
            "The backup file changed during the restore, so nothing was restored."
        )


def _unknown_version(manifest: Manifest) -> str:
    maker = describe_version(manifest.service_version, manifest.commit)
    if manifest.schema_revision < FIRST:
        return f"The backup is of a version of Canopy before 1.0: restore it with {maker}."
    return (
        f"The backup has schema {manifest.schema_revision}, and this version of Canopy knows those "
        f"up to {newest_revision()}. Restore it with the version of Canopy that made it, {maker}, "
        "or a newer one."
    )
