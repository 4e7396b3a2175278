"""The changes that a signed-in member may make to another one, for the page that offers them.

The change checks the same rules again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from app.account.members.removal import is_only_owner
from app.account.members.rules import (
    LAST_OWNER,
    ActingMember,
    check_removal,
    check_role_change,
)
from app.auth.principal import Principal
from app.http.errors import Forbidden
from app.policy.permissions import OWNER, ROLES


class AllowedActions(NamedTuple):
    """The changes that may be made to a member.

    Attributes:
        roles: the roles that may be given, the current one included; empty if it may not change.
        role_problem: why the role may not change; empty if it may.
        removal_problem: why the member may not be removed; empty if they may.
    """

    roles: tuple[str, ...]
    role_problem: str
    removal_problem: str


def allowed_actions(principal: Principal, role: str, member: Mapping[str, Any]) -> AllowedActions:
    """The changes that a person may make to a member.

    Args:
        role: the person's role.
        member: the member's record.
    """
    actor = ActingMember(principal.user_id, role, principal.may("admin"))
    member_id, current = member["id"], member["role"]
    role_problem = _refusal_message(check_role_change, actor, member_id, current, current)
    removal_problem = _refusal_message(check_removal, actor, member_id, current)
    if current == OWNER and is_only_owner(principal.account_id, member_id):
        role_problem = role_problem or LAST_OWNER
        removal_problem = removal_problem or LAST_OWNER
    roles = tuple(
        new_role
        for new_role in ROLES
        if not role_problem
        and not _refusal_message(check_role_change, actor, member_id, current, new_role)
        and (new_role != OWNER or member["joined_at"])
    )
    return AllowedActions(roles, role_problem, removal_problem)


def _refusal_message(check: Callable[..., None], *arguments: str | ActingMember) -> str:
    """The message with which a rule forbids a change; empty if it allows it."""
    try:
        check(*arguments)
    except Forbidden as error:
        return error.message
    return ""
