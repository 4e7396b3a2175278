"""What the log of the instance says about backups."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, func, select

from app.audit.log.bodies import BODY, read_body
from app.doctor.findings import Finding, ok, problem, warning
from app.models import Account, AuditEntry
from app.policy.audit import INSTANCE
from app.policy.instance import (
    OLD_BACKUP,
    OLD_DAILY_BACKUP,
)
from app.values import clock
from app.values.command_name import canopy_command
from config import Settings

log = logging.getLogger(__name__)

BACKED_UP: Final = "instance.backed_up"
BACKUP_FAILED: Final = "instance.backup_failed"
_LOOKED_AT: Final = 20  # backups of commands since the last daily one
_OLDEST_DATA: Final = select(func.min(Account.created_at))


class BackupHistory(NamedTuple):
    """What is known of backups. ``failure`` is the entry of the last daily backup if it failed."""

    last: datetime | None
    last_daily: datetime | None
    failure: dict[str, Any] | None

    @property
    def failed_at(self) -> datetime | None:
        return clock.parse_time(self.failure["at"]) if self.failure else None

    @property
    def reason(self) -> str | None:
        """Why the last daily backup failed, with the host and the folder."""
        return self.failure["changes"]["reason"]["to"] if self.failure else None


def read_history(connection: Connection) -> BackupHistory:
    """Read the log of the instance."""
    done, failed = _entries(connection, BACKED_UP), _entries(connection, BACKUP_FAILED)
    daily = [entry for entry in done if entry["actor"]["type"] == "system"]
    is_failing = failed and (not daily or failed[0]["at"] > daily[0]["at"])
    return BackupHistory(
        clock.parse_time(done[0]["at"]) if done else None,
        clock.parse_time(daily[0]["at"]) if daily else None,
        failed[0] if is_failing else None,
    )


def check_backups(connection: Connection, settings: Settings) -> Iterator[Finding]:
    """Report a daily backup that failed, and data of which no recent backup is known."""
    history = read_history(connection)
    oldest = connection.scalar(_OLDEST_DATA)
    if history.failure:
        yield problem(
            f"The daily backup of {history.failure['at']} failed: {history.reason}",
            "Correct the cause, such as a full disk or who may write to the folder. It is tried "
            "again every hour.",
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


def _entries(connection: Connection, action: str) -> list[dict[str, Any]]:
    """Return the newest entries of an action."""
    statement = (
        select(BODY)
        .where(AuditEntry.account_id == INSTANCE, AuditEntry.action == action)
        .order_by(AuditEntry.id.desc())
        .limit(_LOOKED_AT)
    )
    return [entry for body in connection.scalars(statement) if (entry := read_body(body))]
