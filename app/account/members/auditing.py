"""Entries of the audit log about members."""

from __future__ import annotations

from app.account.members.locking import Member
from app.audit.entries import Changes, Target, record
from app.audit.origin import Actor
from app.auth.principal import Principal
from app.models import User


def record_entry(
    action: str, member: Member, principal: Principal | None, changes: Changes | None = None
) -> None:
    """Record an action on a member.

    Args:
        principal: None: the member does it, who need not be signed in.
    """
    person = member.person
    record(
        action,
        _target(person),
        account_id=member.membership.account_id,
        changes=changes,
        principal=principal,
        actor=None if principal else Actor("person", person.id, person.email),
    )


def record_departure(account_id: str, person: User, changes: Changes) -> None:
    """Record that a person who is deleted leaves an account."""
    record("member.removed", _target(person), account_id=account_id, changes=changes)


def _target(person: User) -> Target:
    return Target("member", person.id, person.email)
