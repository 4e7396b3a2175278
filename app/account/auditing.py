"""Entries of the audit log about accounts."""

from __future__ import annotations

from app.audit.entries import Target, record
from app.audit.origin import Actor
from app.models import Account


def record_change(
    account: Account, field: str, former: str, value: str, actor: Actor | None = None
) -> None:
    """Record that a field of an account changes.

    Args:
        actor: who changes it, where no person and no command does.
    """
    changes = {field: {"from": former, "to": value}}
    target = target_of(account)
    record("account.updated", target, account_id=account.id, changes=changes, actor=actor)


def target_of(account: Account) -> Target:
    """An account as the target of an entry."""
    return Target("account", account.id, account.name)
