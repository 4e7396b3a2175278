"""What a signed-in member may do with another one, for a page that offers nothing else.

The rules are those of the change itself, which checks them again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from app.account.members.rules import OWNER, ActingMember, check_removal, check_role_change
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.http.errors import Forbidden
from app.models import Membership
from app.policy.permissions import ROLES

_OWNERS = CompiledQuery(
    columns_of(Membership, Membership.user_id).where(
        Membership.role == OWNER, Membership.joined_at.is_not(None)
    )
)
LAST_OWNER: Final = "This is the account's last owner. Make another member an owner first."


class Choices(NamedTuple):
    """The roles that may be given, and why others or a removal may not be.

    Attributes:
        roles: with the present one; empty when it may not be changed.
        role_problem: why it may not; empty otherwise.
        removal_problem: likewise of a removal.
    """

    roles: tuple[str, ...]
    role_problem: str
    removal_problem: str


def choices_of(principal: Principal, role: str, member: Mapping[str, Any]) -> Choices:
    """What somebody may do with a member.

    Args:
        role: that of the principal, who is a person.
        member: the other one's record.
    """
    actor = ActingMember(principal.user_id, role, principal.may("admin"))
    member_id, present = member["id"], member["role"]
    role_problem = _problem(check_role_change, actor, member_id, present, present)
    removal_problem = _problem(check_removal, actor, member_id, present)
    if [row.user_id for row in _OWNERS.all(account_id=principal.account_id)] == [member_id]:
        role_problem = role_problem or LAST_OWNER
        removal_problem = removal_problem or LAST_OWNER
    roles = tuple(
        each
        for each in ROLES
        if not role_problem
        and not _problem(check_role_change, actor, member_id, present, each)
        and (each != OWNER or member["joined_at"])
    )
    return Choices(roles, role_problem, removal_problem)


def _problem(check: Callable[..., None], *arguments: str | ActingMember) -> str:
    """What a rule says against it; empty if nothing."""
    try:
        check(*arguments)
    except Forbidden as error:
        return error.message
    return ""
