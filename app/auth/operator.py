"""The operator of the instance, who changes an account from the command line in its owner's name.

Such a change has events like any other, and an event says who did it.
"""

from __future__ import annotations

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.core.reading import Prepared
from app.models import Membership
from app.policy.permissions import expand

_OWNERS = Prepared(
    columns_of(Membership, Membership.user_id)
    .where(Membership.role == "owner")
    .order_by(Membership.created_at, Membership.user_id)
    .limit(1)
)


def first_owner(account_id: str) -> str:
    """The id of the person who has owned the account for the longest time."""
    owner: str = _OWNERS.scalar(account_id=account_id)
    return owner


def acting_for(account_id: str, plan: str, owner_id: str) -> Principal:
    """The operator as a principal who may do everything in an account, in its owner's name."""
    return Principal(
        kind="operator",
        credential_id="",
        account_id=account_id,
        plan=plan,
        granted=("admin",),
        permissions=expand(("admin",)),
        user_id=owner_id,
    )
