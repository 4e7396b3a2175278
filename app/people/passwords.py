"""Checking a password in two steps: count the attempt, then compare.

The caller commits in between. Otherwise concurrent guesses would not see each other's count.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, select, update

from app.auth.login_throttle import PASSWORDS, count_attempt, reset_attempts, throttle_key
from app.auth.people import KnownBrowser
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import User
from app.security import tokens
from app.security.passwords import (
    hash_password,
    needs_rehash,
    prepare_password,
    verify_password,
)
from app.values.folding import fold_text

_COLUMNS = (User.id, User.email, User.password_hash, User.updated_at)
_BY_EMAIL = CompiledQuery(select(*_COLUMNS).where(User.email_key == bindparam("email_key")))
_BY_ID = CompiledQuery(select(*_COLUMNS).where(User.id == bindparam("user_id")))
_SECOND: Final = timedelta(seconds=1)  # cookies are signed to the second
_OWN: Final = "profile"  # attempts of a signed-in person are counted separately


class PasswordAttempt(NamedTuple):
    """An attempt that was counted, and the hash to compare with."""

    user_id: str | None
    password_hash: str | None  # None: no such person, so no password matches
    keys: tuple[str, ...]  # counted under the first; a right password resets all


def count_sign_in_attempt(email: str, browser: KnownBrowser | None) -> PasswordAttempt:
    """Count an attempt to sign in; the caller commits.

    Takes equally long for unregistered addresses.

    Args:
        browser: the browser's cookie. It is ignored if it is older than the person's ``updated_at``
            (the last change of their password or name).

    Raises:
        RateLimited: there were too many attempts.
    """
    person = _BY_EMAIL.first(email_key=fold_text(email))
    address_key = throttle_key(email)
    if person is None:
        _count_password_attempt(address_key)
        return PasswordAttempt(None, None, (address_key,))
    keys: tuple[str, ...] = (address_key,)
    if browser and browser.user_id == person.id and browser.since > person.updated_at - _SECOND:
        keys = (throttle_key(email, browser.id), address_key)
    _count_password_attempt(keys[0])
    return PasswordAttempt(person.id, person.password_hash, keys)


def count_own_attempt(user_id: str) -> PasswordAttempt:
    """Count an attempt of a signed-in person; the caller commits. Raises RateLimited."""
    person = _BY_ID.first(user_id=user_id)
    key = throttle_key(person.email, _OWN)
    _count_password_attempt(key)
    return PasswordAttempt(user_id, person.password_hash, (key,))


def has_password(user_id: str) -> bool:
    """True if a person has a password, and not only a sign-in elsewhere."""
    person = _BY_ID.first(user_id=user_id)
    return person is not None and person.password_hash is not None


def count_sign_up_attempt(token: str, password_hash: str) -> PasswordAttempt:
    """Count an attempt at the password chosen when signing up; the caller commits. Raises
    RateLimited."""
    key = throttle_key(tokens.hash_token(token))
    count_attempt(PASSWORDS, key, " for this link", lambda: "sign up again")
    return PasswordAttempt(None, password_hash, (key,))


def check_password(attempt: PasswordAttempt, password: str) -> bool:
    """True if this is the person's current password, which resets their attempts.

    The hash is renewed if its parameters are outdated, or if it is of the password as it was typed:
    early versions did not prepare passwords. Do what depends on the password in the same
    transaction: the person's row is now locked, so the password cannot change before the commit.
    All hashing is done before the lock is taken.
    """
    stored_hash, prepared = attempt.password_hash, prepare_password(password)
    is_current = verify_password(stored_hash, prepared)
    is_right = is_current or (prepared != password and verify_password(stored_hash, password))
    if not is_right or stored_hash is None:
        return False
    if attempt.user_id is not None:
        is_current &= not needs_rehash(stored_hash)
        new_hash = stored_hash if is_current else hash_password(password)
        row = update(User).where(User.id == attempt.user_id, User.password_hash == stored_hash)
        result: Any = db.session.execute(row.values(password_hash=new_hash))
        if result.rowcount == 0:
            return False
    reset_attempts(*attempt.keys)
    return True


def _count_password_attempt(key: str) -> None:
    """Count an attempt at the password of an address. Raises RateLimited."""
    count_attempt(PASSWORDS, key, " for this address", lambda: "set a new password by email")
