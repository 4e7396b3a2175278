"""People who were invited, and are no longer: their address is not kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlalchemy import delete, select

from app.auth.identities import is_registered
from app.auth.tenant import own_columns_of
from app.db.extensions import db
from app.models import Membership, User

_ACCOUNTS: Final = own_columns_of(Membership, Membership.account_id).limit(1)


def forget_invited(user_ids: Iterable[str]) -> None:
    """Delete those of these people who never signed up, and are invited to no account anymore.

    The entry of what ended their invitation is that of this, too. Somebody who joins or is invited
    in another transaction right now is locked there, and is passed over.
    """
    db.session.flush()
    for user_id in sorted(user_ids):
        locked = select(User).where(User.id == user_id).with_for_update(skip_locked=True)
        found = db.session.scalars(locked, execution_options={"populate_existing": True})
        person = found.one_or_none()
        if person is not None and _is_unknown(person):
            db.session.execute(delete(User).where(User.id == user_id))


def _is_unknown(person: User) -> bool:
    if person.email_verified_at is not None or person.operator_since is not None:
        return False
    accounts = db.session.execute(_ACCOUNTS, {"own_user_id": person.id})
    return accounts.first() is None and not is_registered(person)
