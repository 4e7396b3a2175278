"""Entries of the audit log about the deletion of an account."""

from __future__ import annotations

from datetime import datetime

from app.audit.entries import Target, record
from app.models import Account
from app.values.clock import format_optional_time


def record_schedule(action: str, account: Account, before: datetime | None) -> None:
    """Record that the deletion of an account was scheduled or canceled.

    Args:
        before: when it was to be deleted before this change; None if it was not.
    """
    times = {"from": format_optional_time(before), "to": format_optional_time(account.deletes_at)}
    target = Target("account", account.id, account.name)
    record(action, target, account_id=account.id, changes={"deletes_at": times})
