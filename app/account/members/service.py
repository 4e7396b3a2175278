"""Operations on the members of an account."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam

from app.account.members.locking import begin_change, is_last_owner, lock_member
from app.account.members.record import COLUMNS, not_found, row_record
from app.account.members.removal import end_membership, purge_invited
from app.account.members.revocation import revoke_access
from app.account.members.rules import LAST_OWNER, check_removal, check_role_change, is_lower
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.events.outbox import EventActor, emit_event
from app.http.errors import Conflict
from app.http.etags import ANY, IfMatch
from app.models import Membership, User
from app.policy.permissions import OWNER
from app.values.ids import is_id

_MEMBERS = columns_of(Membership, *COLUMNS).where(User.id == Membership.user_id)
_ALL = CompiledQuery(_MEMBERS.order_by(Membership.created_at, Membership.user_id))
_ONE = CompiledQuery(_MEMBERS.where(Membership.user_id == bindparam("member_id")))


def list_members(account_id: str) -> list[dict[str, Any]]:
    """The records of all members, invited ones included, oldest first."""
    return [row_record(row) for row in _ALL.tuples(account_id=account_id)]


def read_member(account_id: str, member_id: str) -> dict[str, Any]:
    """The record of a member. Raises NotFound."""
    if not is_id("user", member_id):
        raise not_found()
    rows = _ONE.tuples(account_id=account_id, member_id=member_id)
    if not rows:
        raise not_found()
    return row_record(rows[0])


def check_member(principal: Principal, member_id: str) -> None:
    """Raise NotFound if the account has no such member."""
    read_member(principal.account_id, member_id)


def change_role(
    principal: Principal, member_id: str, role: str | None, if_match: IfMatch = ANY
) -> dict[str, Any]:
    """Change a member's role and return their record. A lower role revokes the access that it
    does not allow.

    Args:
        role: the new role; nothing changes if it is None or the current one.

    Raises:
        NotFound: the account has no such member.
        PreconditionFailed: ``if_match`` does not match.
        Forbidden: the caller may not do this.
        Conflict: the account would be left without an owner who has joined.
    """
    account, actor = begin_change(principal)
    member = lock_member(account.id, member_id)
    if_match.check(member.data)
    before = member.membership.role
    if role is None or role == before:
        return member.record
    check_role_change(actor, member_id, before, role)
    if role == OWNER and member.membership.joined_at is None:
        raise Conflict(
            "not_joined",
            "role",
            "This person has to accept the invitation before they can become an owner.",
        )
    if before == OWNER:
        _check_not_last_owner(account.id, member_id)
    member.membership.role = role
    changes = {"role": {"from": before, "to": role}}
    restricted = revoke_access(account.id, member_id, role) if is_lower(role, before) else {}
    emit_event("member.updated", member.record, EventActor.of(principal), changes=changes)
    member.audit("member.updated", principal, {**changes, **restricted})
    return member.record


def remove_member(principal: Principal, member_id: str, if_match: IfMatch = ANY) -> None:
    """Remove a member and revoke their access to the account, or withdraw an invitation. A person
    who never signed up is deleted.

    Raises:
        NotFound: the account has no such member.
        PreconditionFailed: ``if_match`` does not match.
        Forbidden: the caller may not do this.
        Conflict: the account would be left without an owner.
    """
    account, actor = begin_change(principal)
    member = lock_member(account.id, member_id)
    if_match.check(member.data)
    check_removal(actor, member_id, member.membership.role)
    if member.membership.role == OWNER:
        _check_not_last_owner(account.id, member_id)
    changes = end_membership(member, EventActor.of(principal))
    member.audit("member.removed", principal, changes)
    purge_invited([member_id])


def _check_not_last_owner(account_id: str, member_id: str) -> None:
    if is_last_owner(account_id, member_id):
        raise Conflict("last_owner", "role", LAST_OWNER)
