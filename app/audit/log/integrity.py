"""Verifying the audit log of an account in the database: what an export can prove, and what only
the instance that wrote it knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from flask import Flask
from sqlalchemy import bindparam

from app.audit.authenticity import is_authentic
from app.audit.log.checkpoints import next_checkpoint
from app.audit.log.files import Reader, proof_lines
from app.audit.log.keys import unusable_keys
from app.audit.log.sealing import ENTRY, ids_to, wrong_columns
from app.audit.proof.checkpoint import Checkpoint
from app.audit.proof.deletions import Deletions
from app.audit.proof.findings import Finding, printable
from app.audit.proof.verification import Verifier, verify_lines
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import AuditEntry

_AT_ONCE: Final = 250
_OLDEST = columns_of(AuditEntry, *ENTRY, AuditEntry.number).order_by(AuditEntry.id).limit(_AT_ONCE)
_FIRST = CompiledQuery(_OLDEST)  # an empty id follows no other
_NEXT = CompiledQuery(_OLDEST.where(AuditEntry.id > bindparam("after")))
_TEXTS: Final = ("id", "account_id", "action", "body", "mac")


def verify_account(app: Flask, account_id: str, verifier: Verifier) -> Iterator[Finding]:
    """What is wrong with an account's log.

    Args:
        app: gives each query a context of its own.
    """
    read = Reader(app, as_stored=True)
    for key_id in read(unusable_keys):
        yield Finding("key_unreadable", printable(key_id))
    for finding in verify_lines(proof_lines(app, account_id), verifier):
        yield finding._replace(line=None)  # there is no file
    last, rows = verifier.last, read(_FIRST.all, account_id=account_id)
    while rows:
        last = _last_checkpoint(read, account_id, last)
        for row in rows:
            yield from _of_row(row, last.last if last else 0, verifier.deletions)
        rows = read(_NEXT.all, account_id=account_id, after=rows[-1].id)


def _last_checkpoint(read: Reader, account_id: str, known: Checkpoint | None) -> Checkpoint | None:
    """The newest checkpoint now: entries are sealed while the log is verified."""
    number = known.number if known else None
    while following := read(next_checkpoint, account_id, number):
        number = following.number
        known = following if following.is_valid() else known
    return known


def _of_row(row: Any, last: int, deletions: Deletions) -> Iterator[Finding]:
    """What is wrong with a row.

    Args:
        last: the highest number that is sealed.
    """
    number = row.number if type(row.number) is int else None
    where: dict[str, Any] = {"entry_id": printable(row.id), "number": number}
    if no_text := [name for name in _TEXTS if not isinstance(getattr(row, name), str)]:
        yield Finding("column_changed", ", ".join(no_text), **where)
        return
    if wrong := wrong_columns(row):
        yield Finding("column_changed", ", ".join(wrong), **where)
    if row.number is None:
        if not is_authentic(row.body.encode(), row.mac):
            yield Finding("not_authentic", **where)
        elif row.id <= ids_to(deletions.newest):
            yield Finding("entry_inserted", "it was deleted by age before", **where)
    elif number is None or not deletions.to < number <= last:
        yield Finding("number_unknown", printable(row.number), **where)
