"""Invitations of a person whose address was verified, who accepts them without a mailed link."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import bindparam, update

from app.auth.tenant import own_columns_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.members.invitations import ACCEPTED, AcceptedInvitation, record_joined
from app.models import Account, Membership
from app.values import clock

_IS_OPEN: Final = (
    Membership.joined_at.is_(None),
    Membership.invitation_expires_at > bindparam("moment"),
)
_OPEN: Final = CompiledQuery(
    own_columns_of(
        Membership, Account.id, Account.name, Membership.role, Membership.invitation_expires_at
    )
    .where(Account.id == Membership.account_id, *_IS_OPEN)
    .order_by(Account.name, Account.id)
)
_ACCEPT_OWN: Final = (
    update(Membership)
    .where(
        Membership.account_id == bindparam("of_account"),
        Membership.user_id == bindparam("of_user"),
        *_IS_OPEN,
    )
    .values(ACCEPTED)
    .returning(Membership.account_id, Membership.user_id)
)


def list_own_invitations(user_id: str) -> list[Any]:
    """The accounts that a person is invited to: rows with ``id`` and ``name`` of the account,
    ``role`` and ``invitation_expires_at``."""
    return _OPEN.all(own_user_id=user_id, moment=clock.now())


def accept_own_invitation(user_id: str, account_id: str) -> AcceptedInvitation | None:
    """Join an account in the current transaction. None if there is no invitation, or no longer."""
    moment = clock.now()
    values = {"of_account": account_id, "of_user": user_id, "moment": moment}
    row = db.session.execute(_ACCEPT_OWN, values).one_or_none()
    return None if row is None else record_joined(row, moment)
