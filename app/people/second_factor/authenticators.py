"""Authenticator apps of people: at most one each, with a sealed secret."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, delete, select, update

from app.db.engines import insert_into
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import Authenticator
from app.people.second_factor import totp
from app.policy.second_factor import SETUP_LIFE
from app.security.sealing import seal, unseal
from app.values import clock
from app.values.clock import format_time, parse_time

_CLOCKS: Final = timedelta(minutes=1)  # between several hosts
_BY_PERSON = CompiledQuery(
    select(Authenticator.created_at).where(Authenticator.user_id == bindparam("user_id"))
)


class AuthenticatorSetup(NamedTuple):
    """A secret that no code has confirmed yet. The page that shows it carries it sealed, so that
    nothing is stored for those who never finish."""

    secret: bytes
    sealed: str


def new_setup(user_id: str) -> AuthenticatorSetup:
    """Create a secret for a person's app."""
    secret = totp.new_secret()
    content = {
        "user_id": user_id,
        "secret": base64.b64encode(secret).decode(),
        "at": format_time(clock.now()),
    }
    return AuthenticatorSetup(secret, seal(content))


def read_setup(user_id: str, sealed: str) -> AuthenticatorSetup | None:
    """Read the sealed secret of a page; None if it is older than ``SETUP_LIFE`` or not for this
    person."""
    try:
        content = unseal(sealed)
        age = clock.now() - parse_time(content["at"])
        secret = base64.b64decode(content["secret"])
    except (ValueError, KeyError, TypeError):
        return None
    if content["user_id"] != user_id or not -_CLOCKS <= age <= SETUP_LIFE:
        return None
    return AuthenticatorSetup(secret, sealed)


def add_authenticator(user_id: str, secret: bytes, code: str) -> bool:
    """Store the secret of a person's app, replacing a former one. Returns False if the code is
    wrong for it."""
    step = totp.time_step(secret, code)
    if step is None:
        return False
    values: dict[str, Any] = {
        "sealed_secret": seal(base64.b64encode(secret).decode()),
        "last_step": step,
        "created_at": clock.now(),
    }
    row = insert_into(Authenticator).values(user_id=user_id, **values)
    db.session.execute(
        row.on_conflict_do_update(index_elements=[Authenticator.user_id], set_=values)
    )
    return True


def use_code(user_id: str, code: str) -> bool:
    """Use a code of a person's app in the open transaction. Returns False if it is wrong or was
    used before: of two requests with the same code, one succeeds."""
    row = db.session.execute(
        select(Authenticator.sealed_secret).where(Authenticator.user_id == user_id)
    ).one_or_none()
    if row is None:
        return False
    try:
        secret = base64.b64decode(unseal(row.sealed_secret))
    except ValueError:  # sealed with a SECRET_KEY that is lost
        return False
    step = totp.time_step(secret, code)
    if step is None:
        return False
    using = update(Authenticator).where(
        Authenticator.user_id == user_id,
        Authenticator.sealed_secret == row.sealed_secret,
        Authenticator.last_step < step,
    )
    result: Any = db.session.execute(using.values(last_step=step))
    return bool(result.rowcount)


def authenticator_since(user_id: str) -> Any:
    """The time from which a person has had an authenticator app; None if they have none."""
    row = _BY_PERSON.first(user_id=user_id)
    return None if row is None else row.created_at


def has_authenticator(user_id: str) -> bool:
    """True if a person has an app, in the open transaction."""
    return db.session.get(Authenticator, user_id) is not None


def remove_authenticator(user_id: str) -> None:
    """Delete a person's app, if there is one."""
    db.session.execute(delete(Authenticator).where(Authenticator.user_id == user_id))
