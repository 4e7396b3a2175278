"""What can be wrong with a new account, before it is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from marshmallow import ValidationError, validate

from app.core.errors import Detail, ValidationFailed
from app.core.text import unstorable
from app.policy.bounds import ACCOUNT_TYPES, NAME_LENGTH

EMAIL_LENGTH: Final = 254  # what a path in SMTP can hold (RFC 5321, section 4.5.3.1.3)
PASSWORD_LENGTH: Final = (10, 128)

_is_email = validate.Email()


def check_account(name: str, email: str, password: str | None, type: str) -> None:
    """Raises ValidationFailed with every field that is wrong; no database is asked."""
    if details := list(_faults(name, email, password, type)):
        raise ValidationFailed(details=details)


def email_fault(email: str) -> str | None:
    """Why this is no e-mail address, or None. Only its form is looked at."""
    try:
        _is_email(email)
    except ValidationError:
        return "Must be an e-mail address such as jo@example.org."
    if len(email) > EMAIL_LENGTH:
        return f"Must have at most {EMAIL_LENGTH} characters."
    return unstorable(email)


def password_fault(password: str) -> str | None:
    """Why this cannot be a password, or None."""
    shortest, longest = PASSWORD_LENGTH
    if not shortest <= len(password) <= longest:
        return f"Must have {shortest} to {longest} characters."
    return unstorable(password)


def _faults(name: str, email: str, password: str | None, type: str) -> Iterator[Detail]:
    if not 1 <= len(name) <= NAME_LENGTH:
        yield Detail("name", f"Must have 1 to {NAME_LENGTH} characters.")
    elif fault := unstorable(name):
        yield Detail("name", fault)
    if fault := email_fault(email):
        yield Detail("owner_email", fault)
    if password is not None and (fault := password_fault(password)):
        yield Detail("owner_password", fault)
    if type not in ACCOUNT_TYPES:
        yield Detail("type", f"Must be one of {', '.join(ACCOUNT_TYPES)}.")
