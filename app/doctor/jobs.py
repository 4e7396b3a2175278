"""The jobs that run the doctor, and write the daily backup (BACKUP_DAILY)."""

from __future__ import annotations

import logging
import os
import platform
from typing import Final

from rq.timeouts import JobTimeoutException

from app.audit.entries import changes_of_new, write_instance_entry
from app.db.queries import reading_connection
from app.db.snapshots import DATABASE_ERRORS, database_url, error_reason
from app.db.transactions import transaction
from app.doctor.backups import BACKED_UP, BACKUP_FAILED, read_history
from app.doctor.doctor_runs import store_findings
from app.jobs import shutdown
from app.jobs.queue import IMPORTS
from app.jobs.registry import Job
from app.mail.service import queue_mail
from app.maintenance import MaintenanceError
from app.maintenance.backup import back_up, keep_newest, new_backup_name
from app.people.instance_operators import list_operators
from app.policy.instance import (
    BACKUP_RETRY,
    BACKUP_WITHIN,
    BACKUPS_KEPT,
    DOCTOR_EVERY,
    DOCTOR_WITHIN,
)
from app.settings.current import current_settings
from app.values import clock
from config import Settings

log = logging.getLogger(__name__)


def run_doctor() -> int:
    """Run the checks of ``bin/canopy doctor`` and store their findings. Returns the number of
    findings; 0 if the worker is asked to stop."""
    from app.doctor.doctor import run_checks  # noqa: PLC0415 - most processes do not need it

    findings = []
    for finding in run_checks(os.environ):
        if shutdown.requested.is_set():
            return 0
        findings.append(finding)
    store_findings(findings)
    return len(findings)


def is_backup_due() -> bool:
    """True if there was no daily backup today (UTC), nor a failure within the last hour."""
    if current_settings().backup_daily is None:
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
    settings = current_settings()
    folder = settings.backup_daily
    if folder is None:  # on this host
        return False
    path = folder / new_backup_name()
    try:
        back_up(database_url(settings), path, secret_key=settings.secret_key)
    except (MaintenanceError, OSError, JobTimeoutException, *DATABASE_ERRORS) as error:
        _report_failure(f"{error_reason(error)} (host {platform.node()})", settings)
        return False
    with transaction():
        write_instance_entry(BACKED_UP, changes_of_new({"file": str(path)}))
    try:
        keep_newest(folder, BACKUPS_KEPT)
    except MaintenanceError as error:
        log.error("daily backup: %s", error)
    return True


def _report_failure(reason: str, settings: Settings) -> None:
    log.error("the daily backup failed: %s", reason)
    values = {"when": clock.format_time(clock.now()), "reason": reason}
    with transaction():
        write_instance_entry(
            BACKUP_FAILED, changes_of_new({"folder": str(settings.backup_daily), "reason": reason})
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


# In the queue of imports, as it may take minutes, for which mails must not wait.
JOBS: Final = (
    Job(
        back_up_daily,
        every_seconds=600,
        queue=IMPORTS,
        timeout=int(BACKUP_WITHIN.total_seconds()),
        is_due=is_backup_due,
    ),
    Job(
        run_doctor,
        every_seconds=int(DOCTOR_EVERY.total_seconds()),
        queue=IMPORTS,
        timeout=int(DOCTOR_WITHIN.total_seconds()),
    ),
)
