"""People by their address, those who have signed up, and known browsers."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import exists, or_, select

from app.db.extensions import db
from app.models import SignInIdentity, User
from app.values.email import same_address
from app.values.folding import fold_text

# Select people who have signed up. Nobody can sign in as those who were only invited.
IS_REGISTERED: Final = or_(
    User.password_hash.is_not(None), exists().where(SignInIdentity.user_id == User.id)
)


class KnownBrowser(NamedTuple):
    """A browser in which somebody has signed in before, by its signed cookie."""

    user_id: str
    id: str
    since: datetime  # the last sign-in


class EmailTaken(Exception):
    """Another mailbox, of another person, has an address that counts as the same."""


def find_person(email: str, *, lock: bool = False, keep: bool = False) -> User | None:
    """The person with this address, in the open transaction, or None.

    Args:
        lock: nobody else can change them before its end.
        keep: nobody can delete them before its end, so that rows can refer to them.

    Raises:
        EmailTaken: case folding makes it equal to the address of somebody else.
    """
    statement = select(User).where(User.email_key == fold_text(email))
    if lock or keep:
        statement = statement.with_for_update(read=not lock, key_share=not lock)
    person = db.session.scalars(statement).one_or_none()
    if person is not None and not same_address(person.email, email):
        raise EmailTaken
    return person


def is_registered(person: User) -> bool:
    """True if this person has signed up, in the open transaction."""
    if person.password_hash is not None:
        return True
    own = exists().where(SignInIdentity.user_id == person.id)
    return bool(db.session.scalar(select(own)))
