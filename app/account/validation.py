"""What can be wrong with a new account, before it is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from app.core.email import email_fault
from app.core.errors import Detail, ValidationFailed
from app.core.text import unstorable
from app.policy.bounds import ACCOUNT_TYPES, NAME_LENGTH

PASSWORD_LENGTH: Final = (10, 128)


def check_account(name: str, email: str, password: str | None, type: str) -> None:
    """Raises ValidationFailed with every field that is wrong; no database is asked."""
    if details := list(_faults(name, email, password, type)):
        raise ValidationFailed(details=details)


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
