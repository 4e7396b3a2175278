"""Entries of the audit log about applications."""

from __future__ import annotations

from app.audit.entries import Changes, Target, record
from app.models import OAuthApplication


def record_entry(
    action: str, application: OAuthApplication, changes: Changes | None = None
) -> None:
    """Record an action on an application in the log of the account that registered it."""
    target = Target("application", application.id, application.name)
    record(action, target, account_id=application.account_id, changes=changes)
