"""The check that entries of the audit log are sealed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection

from app.audit.log.bodies import BODY, read_body
from app.auth.tenant import select_of_all_accounts
from app.doctor.findings import Finding, ok, problem
from app.models import AuditEntry
from app.values import clock
from app.values.command_name import canopy_command
from app.values.ids import first_id

LATE: Final = timedelta(hours=1)
_READ_AT_ONCE: Final = 500
_MAX_ENTRIES: Final = 100_000
_SHOWN: Final = 3
_WAITING: Final = (
    select_of_all_accounts(AuditEntry.id, AuditEntry.account_id, BODY)
    .where(AuditEntry.number.is_(None))
    .limit(_MAX_ENTRIES)
)


def check_sealing(connection: Connection) -> Iterator[Finding]:
    """Report entries that have waited for an hour, and unreadable entries, which are never
    sealed."""
    late_before = first_id("audit_entry", clock.now() - LATE)
    waiting, late, unreadable = 0, 0, list[str]()
    options = {"yield_per": _READ_AT_ONCE}
    with connection.execute(_WAITING, execution_options=options) as rows:
        for row in rows:
            waiting += 1
            if read_body(row.body) is None:
                unreadable.append(f"{row.id} of {row.account_id}")
            elif row.id < late_before:
                late += 1
    if unreadable:
        ids = ", ".join(unreadable[:_SHOWN])
        yield problem(
            f"Entries of the audit log that are unreadable: {len(unreadable):,}, such as {ids}",
            f"Somebody changed the database. {canopy_command()} audit verify --account ACCOUNT "
            "names all of them; they are never sealed.",
        )
    if late:
        yield problem(
            f"Entries of the audit log that wait for an hour to be sealed: {late:,}",
            "Start the worker (python worker.py). If it is running, its log says what is wrong.",
        )
    if not unreadable and not late:
        yield ok(f"entries of the audit log that wait to be sealed: {waiting:,}")
