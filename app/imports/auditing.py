"""Entries of the audit log about imports."""

from __future__ import annotations

from app.audit.entries import Changes, Target, record
from app.auth.principal import Principal
from app.models import Import


def record_entry(
    action: str, found: Import, principal: Principal, changes: Changes | None = None
) -> None:
    """Record an action on an import. What it writes has entries of its own."""
    target = Target("import", found.id, found.filename)
    record(action, target, account_id=found.account_id, changes=changes, principal=principal)
