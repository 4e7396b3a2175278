"""Whether the replica of the database is one, and how far it is behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection, make_url

from app.db.snapshots import DATABASE_ERRORS, reason, shown_url, snapshot
from app.doctor.results import Result, ok, problem, warning
from config import Settings

_FAR_BEHIND: Final = 16 * 1024 * 1024  # bytes of the log, one of its files


def replica(connection: Connection, settings: Settings) -> Iterator[Result]:
    """The database at DATABASE_REPLICA_URL follows that at DATABASE_URL, the one of ``connection``.
    Lists are read from the primary while it does not."""
    if settings.database_replica_url is None:
        yield ok("DATABASE_REPLICA_URL is not set")
        return
    url = make_url(settings.database_replica_url)
    written = connection.exec_driver_sql(
        "SELECT CAST(pg_current_wal_lsn() AS text), system_identifier FROM pg_control_system()"
    ).one()
    try:
        with snapshot(url) as there:
            behind = there.exec_driver_sql(
                "SELECT CASE WHEN pg_is_in_recovery() AND system_identifier = %s"
                " THEN CAST(greatest(0, pg_wal_lsn_diff(%s, pg_last_wal_replay_lsn())) AS bigint)"
                " END FROM pg_control_system()",
                (written.system_identifier, written[0]),
            ).scalar_one()
    except DATABASE_ERRORS as error:
        yield problem(
            f"The replica {shown_url(url)} cannot be used ({reason(error)})",
            "Start it, or correct or unset DATABASE_REPLICA_URL.",
        )
        return
    yield _judged(shown_url(url), behind)


def _judged(name: str, behind: int | None) -> Result:
    if behind is None:
        return problem(
            f"{name} is not a replica of the database at DATABASE_URL",
            "Set DATABASE_REPLICA_URL to a standby of the database at DATABASE_URL, or unset it.",
        )
    found = f"{name} is {behind:,} bytes of the log behind"
    if behind > _FAR_BEHIND:
        return warning(
            f"The replica {found}", "Check its replication; until then the primary serves lists."
        )
    return ok(found)
