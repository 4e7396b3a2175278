"""Identities at the provider, and the people to whom they are linked."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import bindparam, select, update

from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import SignInIdentity, User
from app.values import clock
from app.values.ids import new_id

_OF_PERSON: Final = CompiledQuery(
    select(
        SignInIdentity.id,
        SignInIdentity.issuer,
        SignInIdentity.email,
        SignInIdentity.created_at,
        SignInIdentity.last_used_at,
    )
    .where(SignInIdentity.user_id == bindparam("user_id"))
    .order_by(SignInIdentity.id)
)


def list_identities(user_id: str) -> list[Any]:
    """List a person's identities, oldest first: rows with ``id``, ``issuer``, ``email``,
    ``created_at`` and ``last_used_at``."""
    return _OF_PERSON.all(user_id=user_id)


def linked_sign_ins(user_id: str) -> list[dict[str, Any]]:
    """List the records of a person's identities, oldest first, for a command."""
    return [
        {name: clock.format_value(value) for name, value in row._asdict().items()}
        for row in list_identities(user_id)
    ]


def person_of(issuer: str, subject: str) -> str | None:
    """The id of the person who is linked to an identity, or None; read in the open transaction."""
    own = select(SignInIdentity.user_id).where(*_is_identity(issuer, subject))
    user_id: str | None = db.session.scalar(own)
    return user_id


def save_last_use(issuer: str, subject: str) -> None:
    """Store the time of a sign-in with an identity."""
    own = update(SignInIdentity).where(*_is_identity(issuer, subject))
    db.session.execute(own.values(last_used_at=clock.now()))


def add_identity(user_id: str, *, issuer: str, subject: str, email: str) -> None:
    """Link an identity to a person.

    Raises:
        sqlalchemy.exc.IntegrityError: somebody has it already.
    """
    now = clock.now()
    row = SignInIdentity(
        id=new_id("sign_in_identity"),
        user_id=user_id,
        issuer=issuer,
        subject=subject,
        email=email,
        created_at=now,
        last_used_at=now,
    )
    db.session.add(row)
    db.session.flush()


def remove_identity(
    user_id: str, identity_id: str, *, issuer: str, needs_other: bool
) -> SignInIdentity | None:
    """Unlink an identity of a person. Returns it, or None if they have none with this id.

    Args:
        issuer: the provider at which people sign in now.
        needs_other: another identity there must be left, as they have no password.

    Raises:
        LookupError: another identity must be left, and there is none.
    """
    # Locked, so that the second of two requests sees what the first has left.
    db.session.get_one(User, user_id, with_for_update=True)
    own = select(SignInIdentity).where(SignInIdentity.user_id == user_id)
    identities = {identity.id: identity for identity in db.session.scalars(own)}
    removed = identities.pop(identity_id, None)
    if removed is None:
        return None
    if needs_other and not any(other.issuer == issuer for other in identities.values()):
        raise LookupError
    db.session.delete(removed)
    return removed


def _is_identity(issuer: str, subject: str) -> tuple[Any, ...]:
    return SignInIdentity.issuer == issuer, SignInIdentity.subject == subject
