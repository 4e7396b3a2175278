"""What the log of the instance says about backups."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, func, select

from app.audit.log.bodies import BODY, read_body
from app.doctor.findings import Finding, ok, problem, warning
from app.models import Account, AuditEntry
from app.policy.audit import INSTANCE
from app.policy.instance import OLD_BACKUP, OLD_DAILY_BACKUP
from app.values import clock
from app.values.command_name import canopy_command
from config import Settings

BACKED_UP: Final = "instance.backed_up"
BACKUP_FAILED: Final = "instance.backup_failed"
_LOOKED_AT: Final = 20  # backups of commands since the last daily one


class BackupHistory(NamedTuple):
    """What is known of backups."""

    last: datetime | None
    last_daily: datetime | None
    failed_at: datetime | None  # if the last daily backup failed, and lately
    reason: str | None  # why it failed, with the host and the folder


def read_history(connection: Connection) -> BackupHistory:
    """Read the log of the instance."""
    done, failed = newest_entries(connection, BACKED_UP), newest_entries(connection, BACKUP_FAILED)
    daily = [entry for entry in done if entry["actor"]["type"] == "system"]
    last, last_daily, failed_at = (
        clock.parse_time(each[0]["at"]) if each else None for each in (done, daily, failed)
    )
    # A failure that was not repeated is of a BACKUP_DAILY that is no longer set.
    since = max(filter(None, (last_daily, clock.now() - OLD_DAILY_BACKUP)))
    if failed_at is None or failed_at <= since:
        return BackupHistory(last, last_daily, None, None)
    return BackupHistory(last, last_daily, failed_at, failed[0]["changes"]["reason"]["to"])


def check_backups(connection: Connection, settings: Settings) -> Iterator[Finding]:
    """Report a daily backup that failed, and data of which no recent backup is known."""
    history = read_history(connection)
    oldest = connection.scalar(select(func.min(Account.created_at)))
    if history.failed_at:
        yield problem(
            f"The daily backup of {clock.format_time(history.failed_at)} failed: {history.reason}",
            "Correct the cause, such as a full disk or who may write to the folder. It is tried "
            "again every hour while BACKUP_DAILY is set.",
        )
        return
    age = OLD_DAILY_BACKUP if settings.backup_daily else OLD_BACKUP
    known = history.last_daily if settings.backup_daily else history.last
    last = f"the last is from {clock.format_time(known)}" if known else "none is known"
    if oldest is None or max(oldest, known or oldest) > clock.now() - age:
        yield ok(f"backups: {last}")
    elif settings.backup_daily:
        yield warning(
            f"Daily backups: {last}", "Look whether a worker is running, with BACKUP_DAILY set."
        )
    else:
        yield warning(
            f"Backups: {last}, and there is data since {clock.format_time(oldest)}",
            "Set BACKUP_DAILY to a folder, if possible on another disk, or run "
            f"{canopy_command()} backup every night. If another program makes backups, test "
            "that they can be restored.",
        )


def newest_entries(connection: Connection, action: str) -> list[dict[str, Any]]:
    """Return the newest entries of an action in the log of the instance."""
    statement = (
        select(BODY)
        .where(AuditEntry.account_id == INSTANCE, AuditEntry.action == action)
        .order_by(AuditEntry.id.desc())
        .limit(_LOOKED_AT)
    )
    return [entry for body in connection.scalars(statement) if (entry := read_body(body))]
