"""Accounts that require a second factor of their members."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import bindparam, select

from app.audit.entries import write_entry
from app.auth.memberships import check_owner
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Conflict
from app.models import Account, Membership, User
from app.values import clock

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
    """The requirement of an account.

    Attributes:
        since: the time from which a second factor is required; None if it is not.
        grace_days: the days that members have from then, or from joining, to turn one on.
    """

    since: Any
    grace_days: int | None


def requirement_of(account_id: str) -> Requirement:
    """Read the requirement of an account."""
    row = _OF_ACCOUNT.first(account_id=account_id)
    return Requirement(row.second_factor_required_at, row.second_factor_grace_days)


def require_second_factor(principal: Principal, grace_days: int | None) -> None:
    """Require a second factor of the members of an account, or stop requiring it.

    Args:
        grace_days: the days that they have to turn one on, counted from when it was first required;
            None to stop requiring it.

    Raises:
        Forbidden: the caller is not an owner.
        Conflict: the caller has no second factor, so they could lock themselves out.
    """
    lock = {"key_share": True}
    account = db.session.get_one(Account, principal.account_id, with_for_update=lock)
    check_owner(principal)
    former = account.second_factor_grace_days
    if grace_days is not None:
        _check_has_one(principal)
    if former == grace_days:
        return
    if grace_days is None:
        account.second_factor_required_at = None
    elif account.second_factor_required_at is None:
        account.second_factor_required_at = clock.now()
    account.second_factor_grace_days = grace_days
    write_entry(
        f"account.second_factor_{'not_' if grace_days is None else ''}required",
        account,
        changes={"second_factor_grace_days": {"from": former, "to": grace_days}},
    )


def members_with_second_factor(account_id: str) -> frozenset[str]:
    """The ids of an account's members who have a second factor."""
    return frozenset(row.user_id for row in _HAVING_ONE.all(account_id=account_id))


def _check_has_one(principal: Principal) -> None:
    if db.session.get_one(User, principal.user_id).second_factor_since is None:
        raise Conflict(
            "no_second_factor",
            "second_factor",
            "Turn on a second factor for yourself first, in your profile.",
        )
