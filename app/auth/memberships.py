"""The accounts that a person belongs to."""

from __future__ import annotations

from typing import Any

from app.auth.tenant import own_columns_of
from app.db.queries import CompiledQuery
from app.models import Account, Membership

_ACCOUNTS_OF_PERSON = CompiledQuery(
    own_columns_of(
        Membership, Account.id, Account.name, Account.slug, Membership.role, Membership.joined_at
    )
    .where(Account.id == Membership.account_id, Membership.joined_at.is_not(None))
    .order_by(Account.name, Account.id)
)


def memberships_of(user_id: str) -> list[Any]:
    """The accounts that a person has joined, by name: rows with ``id``, ``name`` and ``slug`` of
    the account, and the person's ``role`` and ``joined_at`` in it."""
    return _ACCOUNTS_OF_PERSON.all(own_user_id=user_id)
