"""People by their address."""

from __future__ import annotations

from sqlalchemy import select

from app.core.email import same_address
from app.core.text import fold
from app.extensions import db
from app.models import User


class NotTheirs(Exception):
    """The address is compared as that of somebody, whose mailbox is another one."""


def find_person(email: str, *, lock: bool = False) -> User | None:
    """The person with this address, in the transaction at hand, or None.

    Args:
        lock: whether nobody else shall change them before its end.

    Raises:
        NotTheirs: case folding makes it the same as the address of somebody else, as it did with ß
            and ss before such addresses were refused; who reads its mail is not who is meant.
    """
    found = select(User).where(User.email_key == fold(email))
    person = db.session.scalars(found.with_for_update() if lock else found).one_or_none()
    if person is not None and not same_address(person.email, email):
        raise NotTheirs
    return person
