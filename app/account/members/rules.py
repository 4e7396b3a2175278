"""Rules about who may change which member, without database access."""

from __future__ import annotations

from typing import Final, NamedTuple

from app.http.errors import Forbidden
from app.policy.permissions import OWNER, ROLES

INVITED_ROLES: Final = tuple(role for role in ROLES if role != OWNER)
LAST_OWNER: Final = "This is the account's last owner. Make another member an owner first."
_RANKS: Final = tuple(ROLES)


class ActingMember(NamedTuple):
    """The person who makes a change, with their current role."""

    user_id: str | None  # None: the operator of the instance, who may do anything
    role: str
    holds_admin: bool  # the credential or session has the permission admin

    @property
    def is_operator(self) -> bool:
        return self.user_id is None

    @property
    def acts_as_owner(self) -> bool:
        return self.is_operator or (self.role == OWNER and self.holds_admin)


def is_lower(role: str, before: str) -> bool:
    """True if ``role`` ranks below ``before``."""
    return _RANKS.index(role) < _RANKS.index(before)


def check_manages(actor: ActingMember) -> None:
    """Raise Forbidden if the actor's role may not change members."""
    if not actor.is_operator and "members:write" not in ROLES[actor.role]:
        raise Forbidden("role", f"A member with the role {actor.role} cannot change members.")


def check_role_change(actor: ActingMember, member_id: str, before: str, after: str) -> None:
    """Raise Forbidden if the actor may not change this member's role."""
    if actor.user_id == member_id:
        others = "Another owner" if before == "owner" else "An owner or another admin"
        raise Forbidden("role", f"You cannot change your own role. {others} can.")
    check_manages(actor)
    _check_owners(actor, before, after)


def check_removal(actor: ActingMember, member_id: str, role: str) -> None:
    """Raise Forbidden if the actor may not remove this member. Anybody may leave."""
    if actor.user_id != member_id:
        check_manages(actor)
    _check_owners(actor, role)


def _check_owners(actor: ActingMember, *roles: str) -> None:
    if OWNER in roles and not actor.acts_as_owner:
        needed = " This credential needs the permission admin." if actor.role == OWNER else ""
        raise Forbidden("role", f"Only owners can add, change or remove owners.{needed}")
