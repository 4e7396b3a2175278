"""Whether the entries of the audit log are sealed, and were written by this instance."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection, select

from app.audit.authenticity import keys_of
from app.audit.log.sealing import ENTRY, is_genuine
from app.audit.proof.findings import printable
from app.db.queries import reading_as_stored
from app.doctor.results import Result, ok, problem
from app.models import AuditEntry
from app.values import clock
from app.values.ids import first_id
from config import Settings

_LATE: Final = timedelta(hours=1)
_READ_AT_ONCE: Final = 500
_LOOKED_AT: Final = 100_000  # entries
_SHOWN: Final = 3
_WAITING: Final = select(*ENTRY).where(AuditEntry.number.is_(None)).limit(_LOOKED_AT)


def sealed(connection: Connection, settings: Settings) -> Iterator[Result]:
    """No entry waits for long, and none is strange."""
    keys = keys_of(settings.secret_key, settings.secret_key_former)
    late_before = first_id("audit_entry", clock.now() - _LATE)
    waiting, late, strange = 0, 0, list[str]()
    options = {"yield_per": _READ_AT_ONCE}
    with (
        reading_as_stored(connection),
        connection.execute(_WAITING, execution_options=options) as rows,
    ):
        for row in rows:
            waiting += 1
            if not is_genuine(row, keys):
                strange.append(f"{printable(row.id)} of {printable(row.account_id)}")
            elif row.id < late_before:
                late += 1
    if strange:
        shown = ", ".join(strange[:_SHOWN])
        yield problem(
            f"Entries of the audit log that this instance has not written: {len(strange):,}, such "
            f"as {shown}",
            "Somebody changed the database, or SECRET_KEY is another one. bin/canopy audit verify "
            "--account ACCOUNT names all of them; they are never sealed.",
        )
    if late:
        yield problem(
            f"Entries of the audit log that wait for an hour to be sealed: {late:,}",
            "Start the worker (python worker.py). If it is running, its log says what is wrong.",
        )
    if not strange and not late:
        yield ok(f"entries of the audit log that wait to be sealed: {waiting:,}")
