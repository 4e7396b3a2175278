"""Passkeys of people: registering, using and removing them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, func, select, update

from app.db.engines import insert_into
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Conflict
from app.models import Passkey
from app.people.second_factor.challenges import Purpose, new_challenge, use_challenge
from app.people.second_factor.relying_party import BadResponse, KnownPasskey, is_possible
from app.policy.second_factor import PASSKEYS
from app.values import clock
from app.values.ids import is_id, new_id

_OF_PERSON = CompiledQuery(
    select(
        Passkey.id,
        Passkey.name,
        Passkey.credential_id,
        Passkey.transports,
        Passkey.created_at,
        Passkey.last_used_at,
    )
    .where(Passkey.user_id == bindparam("user_id"))
    .order_by(Passkey.created_at, Passkey.id)
)


def list_passkeys(user_id: str) -> list[Any]:
    """List a person's passkeys, oldest first: rows with ``id``, ``name``, ``created_at`` and
    ``last_used_at``."""
    return _OF_PERSON.all(user_id=user_id)


def registration_options(purpose: Purpose, email: str, issuer: str) -> str:
    """The options with which a browser creates a passkey, as JSON."""
    from app.people.second_factor import webauthn_messages as messages  # noqa: PLC0415

    challenge, passkeys = new_challenge(purpose), _known_passkeys(purpose.user_id)
    return messages.registration_options(purpose.user_id, email, issuer, challenge, passkeys)


def sign_in_options(purpose: Purpose) -> str | None:
    """The options with which a browser lets a passkey of the person sign, as JSON; None if they
    have none, or passkeys are not possible on this host."""
    from app.people.second_factor import webauthn_messages as messages  # noqa: PLC0415

    passkeys = _known_passkeys(purpose.user_id)
    if not passkeys or not is_possible():
        return None
    return messages.sign_in_options(new_challenge(purpose), passkeys)


def add_passkey(purpose: Purpose, name: str, text: str) -> None:
    """Store a new passkey. The person must be locked.

    Args:
        text: the browser's response to ``registration_options``, as JSON.

    Raises:
        BadResponse: the response is invalid, or its challenge has expired.
        Conflict: the person has ``PASSKEYS`` already.
    """
    from app.people.second_factor import webauthn_messages as messages  # noqa: PLC0415

    own = select(func.count()).where(Passkey.user_id == purpose.user_id)
    if db.session.scalars(own).one() >= PASSKEYS:
        message = f"You already have {PASSKEYS} passkeys. Remove one before you add another."
        raise Conflict("limit_reached", "limit", message)
    response = messages.read_registration(text)
    if not use_challenge(purpose, response.challenge):
        raise BadResponse
    passkey = messages.verify_registration(response)
    row = insert_into(Passkey).values(
        id=new_id("passkey"),
        user_id=purpose.user_id,
        name=name,
        credential_id=passkey.credential_id,
        public_key=passkey.public_key,
        sign_count=passkey.sign_count,
        transports=passkey.transports,
        created_at=clock.now(),
    )
    unknown = row.on_conflict_do_nothing(index_elements=[Passkey.credential_id])
    if db.session.scalars(unknown.returning(Passkey.id)).one_or_none() is None:
        raise BadResponse


def use_passkey(purpose: Purpose, text: str) -> bool:
    """True if a passkey of the person has signed a challenge for this purpose. The challenge
    is used up in the open transaction.

    Args:
        text: the browser's response to ``sign_in_options``, as JSON.
    """
    from app.people.second_factor import webauthn_messages as messages  # noqa: PLC0415

    try:
        response = messages.read_sign_in(text)
        if not use_challenge(purpose, response.challenge):
            return False
        own = (Passkey.user_id == purpose.user_id, Passkey.credential_id == response.credential_id)
        key = db.session.scalars(select(Passkey).where(*own).with_for_update()).one_or_none()
        if key is None:
            return False
        count = messages.verify_sign_in(response, key.public_key, key.sign_count)
    except BadResponse:
        return False
    values = {"sign_count": count, "last_used_at": clock.now()}
    db.session.execute(update(Passkey).where(*own).values(values))
    return True


def remove_passkey(user_id: str, passkey_id: str) -> str | None:
    """Remove a passkey of a person. Returns its name, or None if they have none with this id."""
    if not is_id("passkey", passkey_id):
        return None
    own = (Passkey.user_id == user_id, Passkey.id == passkey_id)
    name: str | None = db.session.scalars(select(Passkey.name).where(*own)).one_or_none()
    if name is not None:
        db.session.execute(delete(Passkey).where(*own))
    return name


def has_passkey(user_id: str) -> bool:
    """True if a person has a passkey, in the open transaction."""
    own = select(Passkey.id).where(Passkey.user_id == user_id).limit(1)
    return db.session.scalars(own).first() is not None


def remove_passkeys(user_id: str) -> None:
    """Remove all passkeys of a person."""
    db.session.execute(delete(Passkey).where(Passkey.user_id == user_id))


def _known_passkeys(user_id: str) -> list[KnownPasskey]:
    return [KnownPasskey(row.credential_id, row.transports) for row in list_passkeys(user_id)]
