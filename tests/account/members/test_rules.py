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
ACTORS = (OWNER, OWNERS_KEY, ADMIN, EDITOR, VIEWER, OPERATOR)

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


def test_who_may_give_which_role_to_whom_and_remove_whom() -> None:
    for actor, before in itertools.product(ACTORS, ROLES):
        reach = REACH.get(actor, frozenset())
        assert _passes(check_removal, actor, "user_other", before) is (before in reach)
        for after in ROLES:
            allowed = {before, after} <= reach
            assert _passes(check_role_change, actor, "user_other", before, after) is allowed


def test_nobody_changes_their_own_role() -> None:
    for actor, after in itertools.product((OWNER, OWNERS_KEY, ADMIN, EDITOR, VIEWER), ROLES):
        with pytest.raises(Forbidden, match="own role"):
            check_role_change(actor, "user_me", actor.role, after)


def test_everybody_may_leave() -> None:
    for actor in (OWNER, ADMIN, EDITOR, VIEWER):
        assert _passes(check_removal, actor, "user_me", actor.role)


def test_a_key_without_admin_removes_no_owner_not_even_its_own() -> None:
    assert not _passes(check_removal, OWNERS_KEY, "user_me", "owner")


def test_who_may_invite() -> None:
    assert [actor for actor in ACTORS if _passes(check_manages, actor)] == [
        OWNER,
        OWNERS_KEY,
        ADMIN,
        OPERATOR,
    ]


def test_roles_have_an_order() -> None:
    names = ["viewer", "editor", "admin", "owner"]
    for low, high in itertools.combinations(names, 2):
        assert is_lower(low, high)
        assert not is_lower(high, low)
        assert not is_lower(low, low)
