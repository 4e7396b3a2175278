"""Writing a backup: a snapshot of the whole database, while the service runs."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import URL

from app.db.snapshots import open_snapshot
from app.maintenance import MaintenanceError
from app.maintenance.authenticity import signature_of
from app.maintenance.backup_file import FORMAT, BackupWriter, Manifest, new_backup_file
from app.maintenance.dump import OnRows, TableChecksum, count_rows, no_progress, read_lines
from app.maintenance.schema import codecs_of, require_whole
from app.security.sealing import key_check
from app.values import clock
from app.values.version import VERSION, read_commit

NOT_INCLUDED: Final = (
    "SECRET_KEY and the other settings, and the files that they name",
    "logs, and requests counted in the last seconds",
    "the map of your own region, which basemap makes again",
)
_FILE_PATTERN: Final = "canopy-" + "[0-9]" * 8 + "T" + "[0-9]" * 6 + "Z.zip"  # in a folder
_DRAFT_SECONDS: Final = 24 * 3600.0  # then a draft is of a process that was killed


def new_backup_name() -> str:
    """Return the name of a backup of now in a folder: canopy-20261128T023000Z.zip."""
    return f"canopy-{clock.now():%Y%m%dT%H%M%SZ}.zip"


def keep_newest(folder: Path, number: int) -> None:
    """Delete all but the newest backups that were named by ``new_backup_name``, and old drafts.

    Backups of a time to come, of a wrong clock, do not count and stay: today's would be older.

    Raises:
        MaintenanceError: one could not be deleted; the others were.
    """
    backups = sorted(path for path in folder.glob(_FILE_PATTERN) if path.name <= new_backup_name())
    long_ago = time.time() - _DRAFT_SECONDS
    failure = None
    for old in (*backups[:-number], *folder.glob(f".{_FILE_PATTERN}.*.part")):
        try:
            if old.suffix != ".part" or old.stat().st_mtime < long_ago:
                old.unlink()
        except FileNotFoundError:  # another process has deleted it, or completed a draft
            pass
        except OSError as error:
            failure = error
    if failure is not None:
        raise MaintenanceError(f"The backup is written, but an old one is not deleted: {failure}.")


class Backup(NamedTuple):
    """A backup that was written; ``size`` in bytes."""

    path: Path
    size: int
    manifest: Manifest


def back_up(
    url: URL,
    path: Path,
    *,
    secret_key: str,
    overwrite: bool = False,
    progress: OnRows = no_progress,
    started: OnRows = no_progress,
) -> Backup:
    """Write the database to a file, also if another version made its tables.

    Args:
        path: the file, which appears when it is complete.
        secret_key: signs the backup; the manifest has a few check bits of it.
        overwrite: replace an existing file.
        progress: called with the number of rows written since the last call.
        started: called once with the number of all rows.

    Raises:
        MaintenanceError: the file exists or cannot be written; or the database has no tables, or
            an unfinished copy.
        sqlalchemy.exc.SQLAlchemyError: the database cannot be read.
    """
    with new_backup_file(path, overwrite=overwrite) as file, open_snapshot(url) as connection:
        made_at = clock.now()
        revision = require_whole(connection)
        codecs = codecs_of(connection)
        started(sum(count_rows(connection, codecs).values()))
        with BackupWriter(file) as writer:
            tables = []
            for codec in codecs:
                checksum = TableChecksum()
                with closing(read_lines(connection, codec, checksum, progress)) as lines:
                    tables.append(writer.add_table(codec, lines, checksum))
            manifest = Manifest(
                format=FORMAT,
                service_version=VERSION,
                commit=read_commit(),
                made_at=clock.format_time(made_at),
                database=url.get_backend_name(),
                schema_revision=revision,
                secret_key_check=key_check(secret_key),
                tables=tables,
            )
            writer.add_manifest(manifest, lambda content: signature_of(content, secret_key))
    return Backup(path, path.stat().st_size, manifest)
