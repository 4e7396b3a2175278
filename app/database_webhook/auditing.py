"""Entries of the audit log about changes that were made with SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.audit.entries import Changes, record
from app.audit.origin import Actor
from app.audit.targets import Target
from app.database_webhook.table_adapter import TableAdapter

_DATABASE: Final = Actor("system", None, "Database")


def record_entry(
    action: str,
    rows: TableAdapter,
    row: Mapping[str, Any],
    account_id: str,
    changes: Changes | None = None,
) -> None:
    """Record that a row was changed, given by its record. Nobody knows who did it."""
    target = Target(rows.name, row["id"], row["name"])
    record(action, target, account_id=account_id, changes=changes, actor=_DATABASE)
