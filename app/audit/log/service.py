"""The operations on the audit log."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from flask import Flask
from sqlalchemy import bindparam

from app.audit.entries import record_read
from app.audit.log.bodies import CHANGED, read_body
from app.audit.log.files import filters_of, write_file
from app.audit.log.filters import EntryQuery
from app.audit.log.target import log_of
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery, reading_as_stored
from app.http.errors import NotFound
from app.models import AuditEntry
from app.values.ids import is_id
from app.values.strict_json import Fragment

_ONE = CompiledQuery(
    columns_of(AuditEntry, AuditEntry.body).where(AuditEntry.id == bindparam("entry_id"))
)


def read_entry(account_id: str, entry_id: str) -> Any:
    """The text of an entry, byte for byte as it was written. Raises NotFound, also if somebody
    changed it into no entry."""
    known = is_id("audit_entry", entry_id)
    with reading_as_stored():
        row = _ONE.first(account_id=account_id, entry_id=entry_id) if known else None
    if row is None:
        raise NotFound("This entry does not exist, or is no longer kept.")
    if read_body(row.body) is None:
        raise NotFound(CHANGED)
    return Fragment(row.body)


def record_export(account_id: str, format_name: str, query: EntryQuery) -> None:
    """Record in the current transaction that somebody exports the log."""
    asked = {"format": format_name, **filters_of(query)}
    changes = {name: {"from": None, "to": value} for name, value in asked.items()}
    record_read("audit_log.exported", log_of(account_id), account_id=account_id, changes=changes)


def export(app: Flask, account_id: str, format_name: str, query: EntryQuery) -> Generator[bytes]:
    """The pieces of a file with all entries that match a query, the oldest first; the caller closes
    them. The whole log as NDJSON can be verified.

    Args:
        app: gives each query a context of its own.
    """
    return write_file(app, account_id, format_name, query if filters_of(query) else None)
