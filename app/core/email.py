"""E-mail addresses: their form, and nothing about whom they reach."""

from __future__ import annotations

from typing import Final

from marshmallow import ValidationError, validate

from app.core.text import unstorable

EMAIL_LENGTH: Final = 254  # what a path in SMTP can hold (RFC 5321, section 4.5.3.1.3)

_is_email = validate.Email()


def email_fault(email: str) -> str | None:
    """Why this is no e-mail address, or None."""
    if len(email) > EMAIL_LENGTH:
        return f"Must have at most {EMAIL_LENGTH} characters."
    try:
        _is_email(email)
    except ValidationError:
        return "Must be an e-mail address such as jo@example.org."
    return unstorable(email)
