"""Telling people who have signed up, with a password or single sign-on, from those only invited."""

from __future__ import annotations

from typing import Final

from sqlalchemy import exists, or_, select

from app.db.extensions import db
from app.models import SignInIdentity, User

# In statements on people. Who was only invited is none of them, and nobody can sign in as them.
IS_REGISTERED: Final = or_(
    User.password_hash.is_not(None), exists().where(SignInIdentity.user_id == User.id)
)


def is_registered(person: User) -> bool:
    """Return whether this person has signed up, and was not only invited; in the open
    transaction."""
    if person.password_hash is not None:
        return True
    own = exists().where(SignInIdentity.user_id == person.id)
    return bool(db.session.scalar(select(own)))
