"""Who may change which member: the table of docs/members.md, cell by cell."""

from __future__ import annotations

import itertools

import pytest

from app.account.members.rules import (
    ActingMember,
    check_manages,
    check_removal,
    check_role_change,
    is_lower,
)
from app.http.errors import Forbidden
from app.policy.permissions import ROLES

OWNER = ActingMember("user_me", "owner", holds_admin=True)
OWNERS_KEY = ActingMember("user_me", "owner", holds_admin=False)
ADMIN = ActingMember("user_me", "admin", holds_admin=True)
EDITOR = ActingMember("user_me", "editor", holds_admin=True)
VIEWER = ActingMember("user_me", "viewer", holds_admin=True)
OPERATOR = ActingMember(None, "owner", holds_admin=True)

ALL = frozenset(ROLES)
NO_OWNERS = ALL - {"owner"}
# The roles that each can assign, take away, and remove.
REACH = {OWNER: ALL, OPERATOR: ALL, OWNERS_KEY: NO_OWNERS, ADMIN: NO_OWNERS}


def _passes(check: object, *args: object) -> bool:
    try:
        check(*args)  # type: ignore[operator]
    except Forbidden:
        return False
    return True


@pytest.mark.parametrize("actor", [OWNER, OWNERS_KEY, ADMIN, EDITOR, VIEWER, OPERATOR])
def test_who_may_give_which_role_to_whom(actor: ActingMember) -> None:
    reach = REACH.get(actor, frozenset())
    for before, after in itertools.product(ROLES, ROLES):
        allowed = {before, after} <= reach
        assert _passes(check_role_change, actor, "user_other", before, after) is allowed


@pytest.mark.parametrize("actor", [OWNER, OWNERS_KEY, ADMIN, EDITOR, VIEWER])
def test_nobody_changes_their_own_role(actor: ActingMember) -> None:
    for after in ROLES:
        with pytest.raises(Forbidden, match="own role"):
            check_role_change(actor, "user_me", actor.role, after)


@pytest.mark.parametrize("actor", [OWNER, OWNERS_KEY, ADMIN, EDITOR, VIEWER, OPERATOR])
def test_who_may_remove_whom(actor: ActingMember) -> None:
    reach = REACH.get(actor, frozenset())
    for role in ROLES:
        assert _passes(check_removal, actor, "user_other", role) is (role in reach)


def test_everybody_may_leave() -> None:
    for actor in (OWNER, ADMIN, EDITOR, VIEWER):
        assert _passes(check_removal, actor, "user_me", actor.role)


def test_a_key_without_admin_removes_no_owner_not_even_its_own() -> None:
    assert not _passes(check_removal, OWNERS_KEY, "user_me", "owner")


def test_who_may_invite() -> None:
    allowed = [
        a for a in (OWNER, OWNERS_KEY, ADMIN, EDITOR, VIEWER, OPERATOR) if _passes(check_manages, a)
    ]
    assert allowed == [OWNER, OWNERS_KEY, ADMIN, OPERATOR]


def test_roles_have_an_order() -> None:
    names = ["viewer", "editor", "admin", "owner"]
    for low, high in itertools.combinations(names, 2):
        assert is_lower(low, high)
        assert not is_lower(high, low)
        assert not is_lower(low, low)
