"""Memberships: the accounts of a person, and the people of an account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import bindparam, or_

from app.auth.principal import Principal
from app.auth.tenant import columns_of, own_columns_of, rows_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Forbidden
from app.models import Account, Membership, User
from app.policy.permissions import OWNER
from app.values import clock

_IN_ACCOUNTS = (
    own_columns_of(
        Membership, Account.id, Account.name, Account.slug, Membership.role, Membership.joined_at
    )
    .where(Account.id == Membership.account_id)
    .order_by(Account.name, Account.id)
)
_HAS_JOINED = Membership.joined_at.is_not(None)
_JOINED = CompiledQuery(_IN_ACCOUNTS.where(_HAS_JOINED))
_JOINED_OR_INVITED = CompiledQuery(
    _IN_ACCOUNTS.where(or_(_HAS_JOINED, Membership.invitation_expires_at > bindparam("moment")))
)
_MEMBERS_IN_ROLES = (
    columns_of(Membership, User.id, User.email, User.name)
    .add_columns(Account.name.label("account_name"))
    .where(
        User.id == Membership.user_id,
        Account.id == Membership.account_id,
        _HAS_JOINED,
        Membership.role.in_(bindparam("roles", expanding=True)),
    )
    .order_by(User.id)
)


class Accounts(NamedTuple):
    """The accounts that a person has joined, as ``memberships_of`` returns them, and the number of
    open invitations."""

    joined: list[Any]
    invitations: int


def role_in(account_id: str, user_id: str) -> str | None:
    """The role of a member, in the open transaction; None for other people."""
    own = rows_of(account_id, Membership).where(Membership.user_id == user_id, _HAS_JOINED)
    membership = db.session.scalars(own).one_or_none()
    return None if membership is None else membership.role


def check_owner(principal: Principal) -> None:
    """Raise Forbidden unless the caller owns the account, in the open transaction."""
    if role_in(principal.account_id, principal.user_id) != OWNER:
        raise Forbidden("role", "Only owners of the account can do this.")


def memberships_of(user_id: str) -> list[Any]:
    """The accounts that a person has joined, by name: rows with ``id``, ``name`` and ``slug`` of
    the account, and the person's ``role`` and ``joined_at`` in it."""
    return _JOINED.all(own_user_id=user_id)


def accounts_of(user_id: str) -> Accounts:
    """The accounts that a person has joined or is invited to."""
    rows = _JOINED_OR_INVITED.all(own_user_id=user_id, moment=clock.now())
    joined = [row for row in rows if row.joined_at is not None]
    return Accounts(joined, len(rows) - len(joined))


def members_in_roles(account_id: str, roles: Sequence[str]) -> Sequence[Any]:
    """The members of an account with one of these roles, for mails: rows with ``id``, ``email``,
    ``name`` and ``account_name``."""
    values = {"account_id": account_id, "roles": roles}
    return db.session.execute(_MEMBERS_IN_ROLES, values).all()
