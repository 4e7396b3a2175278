"""The daily backup (BACKUP_DAILY), and what the log of the instance says about backups."""

from __future__ import annotations

import logging
import platform
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from flask import current_app
from sqlalchemy import Connection, func, select

from app.audit.entries import changes_of_new, write_instance_entry
from app.audit.log.bodies import BODY, read_body
from app.db.queries import reading_connection
from app.db.snapshots import DATABASE_ERRORS, database_url, error_reason
from app.db.transactions import transaction
from app.doctor.findings import Finding, ok, problem, warning
from app.jobs.queue import IMPORTS
from app.jobs.registry import Job
from app.mail.service import queue_mail
from app.maintenance import MaintenanceError
from app.maintenance.backup import back_up, keep_newest, new_backup_name
from app.models import Account, AuditEntry
from app.people.instance_operators import list_operators
from app.policy.audit import INSTANCE
from app.policy.instance import (
    BACKUP_RETRY,
    BACKUP_WITHIN,
    BACKUPS_KEPT,
    OLD_BACKUP,
    OLD_DAILY_BACKUP,
)
from app.values import clock
from app.values.command_name import canopy_command
from app.values.version import VERSION, read_commit
from config import Settings

log = logging.getLogger(__name__)

_DONE: Final = "instance.backed_up"
_FAILED: Final = "instance.backup_failed"
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
    done, failed = _entries(connection, _DONE), _entries(connection, _FAILED)
    daily = [entry for entry in done if entry["actor"]["type"] == "system"]
    is_failing = failed and (not daily or failed[0]["at"] > daily[0]["at"])
    return BackupHistory(
        clock.parse_time(done[0]["at"]) if done else None,
        clock.parse_time(daily[0]["at"]) if daily else None,
        failed[0] if is_failing else None,
    )


def is_backup_due() -> bool:
    """True if there was no daily backup today (UTC), nor a failure within the last hour."""
    settings: Settings = current_app.config["SETTINGS"]
    if settings.backup_daily is None:
        return False
    with reading_connection() as connection:
        history = read_history(connection)
    now = clock.now()
    if history.failed_at and now - history.failed_at < BACKUP_RETRY:
        return False
    return history.last_daily is None or history.last_daily.date() < now.date()


def back_up_daily() -> bool:
    """Write a backup into the folder BACKUP_DAILY of this host. A failure is logged, and mailed to
    the operators once a day. Returns True if it was written."""
    settings: Settings = current_app.config["SETTINGS"]
    folder = settings.backup_daily
    if folder is None:  # on this host
        return False
    path = folder / new_backup_name()
    try:
        back_up(
            database_url(settings),
            path,
            secret_key=settings.secret_key,
            service_version=VERSION,
            commit=read_commit(),
        )
        keep_newest(folder, BACKUPS_KEPT)
    except (MaintenanceError, OSError, *DATABASE_ERRORS) as error:
        _report_failure(f"{error_reason(error)} (host {platform.node()})", settings)
        return False
    with transaction():
        write_instance_entry(_DONE, changes_of_new({"file": str(path)}))
    return True


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


def _report_failure(reason: str, settings: Settings) -> None:
    log.error("the daily backup failed: %s", reason)
    values = {"when": clock.format_time(clock.now()), "reason": reason}
    with transaction():
        write_instance_entry(
            _FAILED, changes_of_new({"folder": str(settings.backup_daily), "reason": reason})
        )
        for person in list_operators():
            if person["email_verified"]:
                queue_mail(
                    "backup_failed",
                    person["email"],
                    cause=f"backup_failed:{person['id']}:{values['when'][:10]}",
                    values=values
                    | {"name": person["name"], "page": f"{settings.public_url}/operator"},
                )


# In the queue of imports, as it may take long, for which mails must not wait.
JOBS: Final = (
    Job(
        back_up_daily,
        every_seconds=600,
        queue=IMPORTS,
        timeout=int(BACKUP_WITHIN.total_seconds()),
        is_due=is_backup_due,
    ),
)
