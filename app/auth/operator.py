"""The operator, who acts in the name of an account's owner: commands, and changes made with SQL.

Such changes have events, which need an actor.
"""

from __future__ import annotations

from typing import Any

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import Membership, User
from app.policy.permissions import expand_permissions

_FIRST_OWNER = CompiledQuery(
    columns_of(Membership, User.id, User.email)
    .where(Membership.user_id == User.id, Membership.role == "owner")
    .order_by(Membership.created_at, Membership.user_id)
    .limit(1)
)


def first_owner(account_id: str) -> Any:
    """The ``id`` and ``email`` of the person who has owned the account for the longest time."""
    return _FIRST_OWNER.first(account_id=account_id)


def operator_of(account: Any) -> Principal:
    """The operator, acting for the person who has owned the account for the longest time."""
    return acting_for(account, first_owner(account.id))


def acting_for(account: Any, owner: Any) -> Principal:
    """The operator as a principal who may do everything in an account, in its owner's name.

    Args:
        account: an ``Account``, or a row with its ``id``, ``name`` and ``plan``.
        owner: a ``User``, or a row of ``first_owner``.
    """
    return Principal(
        kind="operator",
        credential_id="",
        account_id=account.id,
        account_name=account.name,
        plan=account.plan,
        permissions=expand_permissions(("admin",)),
        user_id=owner.id,
        user_email=owner.email,
    )
