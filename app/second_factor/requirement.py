"""Accounts that require a second factor of their members."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import bindparam, select

from app.auth.memberships import role_in
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Conflict, Forbidden
from app.models import Account, Membership, User
from app.values import clock

OWNER = "owner"
_OF_ACCOUNT = CompiledQuery(
    select(Account.second_factor_required_at, Account.second_factor_grace_days).where(
        Account.id == bindparam("account_id")
    )
)
_HAVING_ONE = CompiledQuery(
    columns_of(Membership, Membership.user_id)
    .join(User, User.id == Membership.user_id)
    .where(User.second_factor_since.is_not(None))
)


class Requirement(NamedTuple):
    """What an account requires.

    Attributes:
        since: when an owner turned it on; None: no second factor is required.
        grace_days: that members have from then on, or from joining.
    """

    since: Any
    grace_days: int | None


def requirement_of(account_id: str) -> Requirement:
    """What an account requires of its members."""
    row = _OF_ACCOUNT.first(account_id=account_id)
    return Requirement(row.second_factor_required_at, row.second_factor_grace_days)


def require_second_factor(principal: Principal, grace_days: int | None) -> bool:
    """Require a second factor of the members of an account, or no longer.

    Args:
        grace_days: that they have to turn one on; None: none is required. A change of the days
            counts from when it was first required.

    Returns whether anything changed.

    Raises:
        Forbidden: the caller is no owner.
        Conflict: the caller has no second factor: they could lose their account to it.
    """
    lock = {"key_share": True}
    account = db.session.get_one(Account, principal.account_id, with_for_update=lock)
    check_owner(principal)
    if grace_days is None:
        changed = account.second_factor_required_at is not None
        account.second_factor_required_at = account.second_factor_grace_days = None
        return changed
    if db.session.get_one(User, principal.user_id).second_factor_since is None:
        raise Conflict("Turn on a second factor for yourself first, in your profile.")
    changed = (
        account.second_factor_required_at is None or account.second_factor_grace_days != grace_days
    )
    account.second_factor_required_at = account.second_factor_required_at or clock.now()
    account.second_factor_grace_days = grace_days
    return changed


def check_owner(principal: Principal) -> None:
    """Raises Forbidden unless the caller owns the account, in the open transaction."""
    if role_in(principal.account_id, principal.user_id) != OWNER:
        raise Forbidden("Only owners of the account can do this.")


def members_with_second_factor(account_id: str) -> frozenset[str]:
    """The ids of an account's members who have a second factor."""
    return frozenset(row.user_id for row in _HAVING_ONE.all(account_id=account_id))
