"""Entries of the audit log about members."""

from __future__ import annotations

from app.audit.entries import Changes, Target, record
from app.audit.origin import Actor
from app.auth.principal import Principal
from app.members.locking import Member


def enter(
    action: str, member: Member, principal: Principal | None, changes: Changes | None = None
) -> None:
    """Enter an action on a member.

    Args:
        principal: None: the member does it, who need not be signed in.
    """
    person = member.person
    record(
        action,
        Target("member", person.id, person.email),
        account_id=member.membership.account_id,
        changes=changes,
        principal=principal,
        actor=None if principal else Actor("person", person.id, person.email),
    )
