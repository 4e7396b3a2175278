"""The operations on the audit log."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from flask import Flask
from sqlalchemy import bindparam

from app.audit.entries import changes_of_new, write_read_entry
from app.audit.log.bodies import BODY, read_body
from app.audit.log.files import filters_of, proof_lines
from app.audit.log.filters import EntryQuery
from app.audit.proof.findings import Finding
from app.audit.proof.verification import Verifier, verify_lines
from app.audit.targets import audit_log_target
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.http.errors import NotFound
from app.models import AuditEntry
from app.values.ids import is_id
from app.values.strict_json import Fragment

_ONE = CompiledQuery(
    columns_of(AuditEntry).add_columns(BODY).where(AuditEntry.id == bindparam("entry_id"))
)


def read_entry(account_id: str, entry_id: str) -> Any:
    """Return the text of an entry, byte for byte as it was written.

    Raises:
        NotFound: it does not exist, or is unreadable.
    """
    is_valid = is_id("audit_entry", entry_id)
    row = _ONE.first(account_id=account_id, entry_id=entry_id) if is_valid else None
    if row is None:
        raise NotFound("This entry does not exist, or is no longer kept.")
    if read_body(row.body) is None:
        raise NotFound("This entry was changed and is unreadable. Verify the log.")
    return Fragment(row.body)


def write_export_entry(account_id: str, format_name: str, query: EntryQuery) -> None:
    """Write the entry of an export of the log, in the current transaction."""
    changes = changes_of_new({"format": format_name, **filters_of(query)})
    write_read_entry(
        "audit_log.exported", audit_log_target(account_id), account_id=account_id, changes=changes
    )


def verify_account(app: Flask, account_id: str, verifier: Verifier) -> Generator[Finding]:
    """Yield the findings of an account's log in the database.

    Args:
        app: each query runs in its own context of this application.
    """
    for finding in verify_lines(proof_lines(app, account_id), verifier):
        yield finding._replace(line=None)  # there is no file
