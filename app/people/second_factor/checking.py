"""Checking a second factor in two steps, like a password: count the attempt, then compare.

The caller commits in between. Otherwise concurrent guesses would not see each other's count.
Signatures of passkeys cannot be guessed: they are not counted, so that nobody can keep the person
out by typing wrong codes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from app.auth.login_throttle import CODES, attempts_now, count_attempt, reset_attempts, throttle_key
from app.auth.people import KnownBrowser
from app.db.extensions import db
from app.models import User
from app.people.auditing import Subject, write_person_entry
from app.people.second_factor.authenticators import use_code
from app.people.second_factor.challenges import Purpose
from app.people.second_factor.passkeys import has_passkey, use_passkey
from app.people.second_factor.recovery_codes import codes_left_now, use_recovery_code
from app.people.second_factor.reporting import mail_guesses, report_change
from app.policy.second_factor import WRONG_CODES_MAILED

CODE: Final = "code"
RECOVERY_CODE: Final = "recovery_code"
PASSKEY: Final = "passkey"

_COUNTED: Final = "second factor\0"  # apart from passwords
# They share one count: each sign-in at a provider and each new password makes a new one.
_KNOWN: Final = "known browsers"
_OWN: Final = "confirm"  # attempts of a signed-in person are counted separately


class Factor(NamedTuple):
    """A second factor that somebody submits: its kind, and the code or the browser's response as
    JSON."""

    kind: str
    value: str


def count_sign_in_check(
    user_id: str, factor: Factor, browser: KnownBrowser | None
) -> tuple[str, ...]:
    """Count an attempt after the right password; the caller commits.

    Returns the keys that it is counted under, for ``check_factor``. Raises RateLimited.
    """
    keys: tuple[str, ...] = (throttle_key(f"{_COUNTED}{user_id}"),)
    if browser is not None and browser.user_id == user_id:
        keys = (throttle_key(f"{_COUNTED}{user_id}", _KNOWN), *keys)
    return _count_factor_attempt(keys, user_id, factor)


def count_own_check(user_id: str, factor: Factor) -> tuple[str, ...]:
    """Count an attempt of a signed-in person; the caller commits.

    Returns the keys for ``check_factor``. Raises RateLimited.
    """
    return _count_factor_attempt((throttle_key(f"{_COUNTED}{user_id}", _OWN),), user_id, factor)


def check_factor(purpose: Purpose, factor: Factor, keys: tuple[str, ...], address: str) -> bool:
    """True if this is the person's second factor, which is used up in the open transaction.
    Then the attempts under the first key are reset.

    Args:
        purpose: the person, the browser and the purpose.
        keys: the keys that the attempt was counted under.
        address: the client's IP address, for the mail about a recovery code.
    """
    person = db.session.get_one(User, purpose.user_id, with_for_update={"key_share": True})
    if person.second_factor_since is None or not _is_right(purpose, factor):
        return False
    reset_attempts(keys[0])  # not what somebody else has guessed meanwhile
    if factor.kind == RECOVERY_CODE:
        codes_left = codes_left_now(person.id)
        report_change(person, "code_used", address=address, left=codes_left)
    return True


def refuse_factor(person_id: str, email: str, keys: tuple[str, ...], address: str) -> None:
    """Write the entry of a wrong factor, and mail the person if there were several.

    Args:
        keys: the keys that the attempt was counted under.
        address: the client's IP address.
    """
    subject = Subject(person_id, email)
    write_person_entry("person.second_factor_refused", subject, by_themselves=True, refused=True)
    if attempts_now(CODES, keys[0]) >= WRONG_CODES_MAILED:
        mail_guesses(person_id, address)


def _is_right(purpose: Purpose, factor: Factor) -> bool:
    if factor.kind == CODE:
        return use_code(purpose.user_id, factor.value)
    if factor.kind == RECOVERY_CODE:
        return use_recovery_code(purpose.user_id, factor.value)
    return use_passkey(purpose, factor.value)


def _count_factor_attempt(keys: tuple[str, ...], user_id: str, factor: Factor) -> tuple[str, ...]:
    """Count an attempt under the first key. Raises RateLimited."""
    if factor.kind != PASSKEY:
        count_attempt(
            CODES, keys[0], instead=lambda: "use a passkey" if has_passkey(user_id) else ""
        )
    return keys
