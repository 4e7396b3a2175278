"""Trying a password: counted first, then compared.

The two are separate because what is counted has to be committed before the password is looked at:
else guesses that are made at once would not know of each other.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, select, update

from app.auth.people import KnownBrowser
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import RateLimited
from app.models import User
from app.people.login_throttle import count_attempt, forget_attempts, throttle_key
from app.security import tokens
from app.security.passwords import hash_password, needs_rehash, verify_password
from app.values.text import fold

_COLUMNS = (User.id, User.email, User.password_hash, User.updated_at)
_BY_EMAIL = CompiledQuery(select(*_COLUMNS).where(User.email_key == bindparam("email_key")))
_BY_ID = CompiledQuery(select(*_COLUMNS).where(User.id == bindparam("user_id")))
_SECOND: Final = timedelta(seconds=1)  # cookies are signed to the second
_OWN: Final = "profile"  # tries of who is signed in count by themselves


class Attempt(NamedTuple):
    """A try that is counted."""

    user_id: str | None
    password_hash: str | None  # None: nobody's, which no password has
    keys: tuple[str, ...]  # by which it was counted


def begin_sign_in(email: str, known: KnownBrowser | None) -> Attempt:
    """Count a try to sign in; the caller commits. Takes as long whether anybody has this address.

    Args:
        known: what the browser's cookie says. One of before the last change of the person
            (``updated_at``: their password, or their name) is that of a strange browser.

    Raises:
        RateLimited: there were too many.
    """
    person = _BY_EMAIL.first(email_key=fold(email))
    strange = throttle_key(email)
    if person is None:
        return _count(Attempt(None, None, (strange,)))
    keys: tuple[str, ...] = (strange,)
    if known and known.user_id == person.id and known.since > person.updated_at - _SECOND:
        keys = (throttle_key(email, known.id), strange)
    return _count(Attempt(person.id, person.password_hash, keys))


def begin_own(user_id: str) -> Attempt:
    """Count a try of who is signed in; the caller commits. Raises RateLimited."""
    person = _BY_ID.first(user_id=user_id)
    return _count(Attempt(user_id, person.password_hash, (throttle_key(person.email, _OWN),)))


def begin_sign_up(token: str, password_hash: str) -> Attempt:
    """Count a try of the password that was chosen when signing up; the caller commits. Raises
    RateLimited."""
    attempt = Attempt(None, password_hash, (throttle_key(tokens.hash_token(token)),))
    return _count(attempt, "for this link", "sign up again")


def is_right(attempt: Attempt, password: str) -> bool:
    """Whether it is the password, still. If it is, tries begin to count anew, and its hash is made
    anew when it has other parameters than the settings.

    What follows belongs into the same transaction: whoever sets another password waits for it, and
    who has set one meanwhile is found out here. All hashing comes before it begins.
    """
    kept = attempt.password_hash
    if not verify_password(kept, password) or kept is None:
        return False
    if attempt.user_id is not None:
        renewed = hash_password(password) if needs_rehash(kept) else kept
        row = update(User).where(User.id == attempt.user_id, User.password_hash == kept)
        result: Any = db.session.execute(row.values(password_hash=renewed))
        if result.rowcount == 0:
            return False
    forget_attempts(*attempt.keys)
    return True


def _count(
    attempt: Attempt,
    whose: str = "for this address",
    instead: str = "set a new password by mail",
) -> Attempt:
    """Count it by the first of its keys."""
    wait = count_attempt(attempt.keys[0])
    if wait is None:
        return attempt
    seconds = max(1, math.ceil(wait.total_seconds()))
    minutes = math.ceil(seconds / 60)
    raise RateLimited(
        f"There were too many wrong passwords {whose}. Wait "
        f"{minutes} {'minute' if minutes == 1 else 'minutes'}, or {instead}.",
        headers={"Retry-After": str(seconds)},
    )
