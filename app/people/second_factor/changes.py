"""Turning a second factor on and off, with its recovery codes and mails.

Each change locks the person's row first: the factors are in several tables, and that row tells
sign-ins if there is one.
"""

from __future__ import annotations

from typing import Any

from app.auth.pending_sign_ins import delete_pending
from app.auth.sessions import end_confirmations
from app.db.extensions import db
from app.http.errors import Conflict
from app.models import User
from app.people.second_factor import authenticators, passkeys, recovery_codes
from app.people.second_factor.challenges import Purpose
from app.people.second_factor.reporting import report_change
from app.values import clock


def turn_on_authenticator(
    user_id: str, secret: bytes, code: str, *, first: bool, address: str
) -> list[str] | None:
    """Store a person's app, if the code is right for its secret.

    Returns their recovery codes if this is their first factor, else an empty list; None if the code
    is wrong.

    Args:
        first: they had no second factor that they could be asked for.
        address: the client's IP address, for the mail.

    Raises:
        Conflict: they have just turned one on, and have not been asked for it.
    """
    person = _lock_before(user_id, first=first)
    had_one = authenticators.has_authenticator(user_id)
    if not authenticators.add_authenticator(user_id, secret, code):
        return None
    codes = _turn_on(person, address)
    if not codes:
        report_change(person, "app" if had_one else "app_added", address=address)
    return codes


def turn_on_passkey(
    purpose: Purpose, name: str, response: str, *, first: bool, address: str
) -> list[str]:
    """Store a passkey of a person.

    Returns their recovery codes if this is their first factor, else an empty list.

    Raises:
        BadResponse: the browser's response is invalid, or its challenge has expired.
        Conflict: they have ``PASSKEYS`` already; or they have just turned on a second
            factor, and have not been asked for it.
    """
    person = _lock_before(purpose.user_id, first=first)
    passkeys.add_passkey(purpose, name, response)
    codes = _turn_on(person, address)
    if not codes:
        report_change(person, "passkey", address=address, passkey_name=name)
    return codes


def new_recovery_codes(user_id: str, *, address: str) -> list[str]:
    """Give a person new recovery codes and invalidate the former ones.

    Raises:
        Conflict: they have no second factor.
    """
    person = _lock_user(user_id)
    if person.second_factor_since is None:
        raise Conflict("no_second_factor", "second_factor", "Turn on a second factor first.")
    codes = recovery_codes.make_recovery_codes(user_id)
    report_change(person, "codes", address=address)
    return codes


def remove_authenticator(user_id: str, *, address: str) -> bool:
    """Remove a person's app, and turn off the second factor if there is no other. Returns False if
    there is no app."""
    person = _lock_user(user_id)
    if not authenticators.has_authenticator(user_id):
        return False
    authenticators.remove_authenticator(user_id)
    _after_removal(person, "app_removed", address)
    return True


def remove_passkey(user_id: str, passkey_id: str, *, address: str) -> str | None:
    """Remove a passkey of a person, and turn off the second factor if there is no other. Returns
    the passkey's name, or None if there is none."""
    person = _lock_user(user_id)
    name = passkeys.remove_passkey(user_id, passkey_id)
    if name is not None:
        _after_removal(person, "passkey_removed", address, passkey_name=name)
    return name


def turn_off(user_id: str, *, address: str) -> bool:
    """Turn off a person's second factor and delete their app, passkeys and recovery codes. Returns
    False if they have none."""
    person = _lock_user(user_id)
    if person.second_factor_since is None:
        return False
    delete_second_factor(person)
    report_change(person, "off", address=address)
    return True


def delete_second_factor(person: User) -> None:
    """Delete all factors of a person, and end the sign-ins that wait for one. The person must be
    locked."""
    authenticators.remove_authenticator(person.id)
    passkeys.remove_passkeys(person.id)
    recovery_codes.delete_recovery_codes(person.id)
    delete_pending(person.id)
    person.second_factor_since = None


def _turn_on(person: User, address: str) -> list[str]:
    """Return new recovery codes to a person who had no second factor, else an empty list."""
    if person.second_factor_since is not None:
        return []
    person.second_factor_since = clock.now()
    end_confirmations(person.id)  # by password
    report_change(person, "on", address=address)
    return recovery_codes.make_recovery_codes(person.id)


def _after_removal(person: User, change: str, address: str, **more: Any) -> None:
    if authenticators.has_authenticator(person.id) or passkeys.has_passkey(person.id):
        report_change(person, change, address=address, **more)
        return
    delete_second_factor(person)
    report_change(person, "off", address=address)


def _lock_before(user_id: str, *, first: bool) -> User:
    """Lock a person who is about to get a factor. Raises Conflict if it is no longer the first."""
    person = _lock_user(user_id)
    if first and person.second_factor_since is not None:
        raise Conflict(
            "changed_meanwhile",
            "second_factor",
            "A second factor has just been turned on for you. Please try again.",
        )
    return person


def _lock_user(user_id: str) -> User:
    return db.session.get_one(User, user_id, with_for_update={"key_share": True})
