"""Writing a backup: the whole database as of one moment, while the service goes on."""

from __future__ import annotations

import hashlib
import hmac
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import URL

from app.db.snapshots import snapshot
from app.maintenance.archive import FORMAT, Manifest, Writer, new_file
from app.maintenance.dump import Progress, TableChecksum, count_rows, no_progress, read_lines
from app.maintenance.schema import layouts_of, require_whole
from app.values import clock

NOT_IN_IT: Final = (
    "SECRET_KEY and the other settings, and the files that they name",
    "logs, and requests counted in the last seconds",
)


class Backup(NamedTuple):
    """A backup that was written: where, its size in bytes, and what it says of itself."""

    path: Path
    size: int
    manifest: Manifest


def back_up(
    url: URL,
    path: Path,
    *,
    secret_key: str,
    service_version: str,
    overwrite: bool = False,
    progress: Progress = no_progress,
    started: Progress = no_progress,
) -> Backup:
    """Write the database to a file, of whichever version its tables are.

    Args:
        url: the database.
        path: the file; it exists when it is complete and not before.
        secret_key: the key in force, of which a few check bits are kept.
        service_version: what the manifest names as its maker.
        overwrite: whether an existing file is replaced.
        progress: called with the number of rows written since the last call.
        started: called once, with the number of all rows.

    Raises:
        MaintenanceError: the file exists or cannot be written, or the database has no
            tables, or not all rows of a copy.
        sqlalchemy.exc.SQLAlchemyError: the database cannot be read.
    """
    with new_file(path, overwrite=overwrite) as file, snapshot(url) as connection:
        made_at = clock.now()
        revision = require_whole(connection)
        layouts = layouts_of(connection)
        started(sum(count_rows(connection, layouts).values()))
        with Writer(file) as writer:
            tables = []
            for layout in layouts:
                tally = TableChecksum()
                with closing(read_lines(connection, layout, tally, progress)) as lines:
                    tables.append(writer.add_table(layout, lines, tally))
            manifest = Manifest(
                format=FORMAT,
                service_version=service_version,
                made_at=clock.format_time(made_at),
                database=url.get_backend_name(),
                schema_revision=revision,
                secret_key_check=secret_key_check(secret_key),
                tables=tables,
            )
            writer.add_manifest(manifest)
    return Backup(path, path.stat().st_size, manifest)


def secret_key_check(secret_key: str) -> str:
    """Twenty bits of a digest of the key."""
    return hmac.new(secret_key.encode(), b"canopy backup", hashlib.sha256).hexdigest()[:5]
