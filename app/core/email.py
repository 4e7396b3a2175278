"""E-mail addresses: their form, and nothing about whom they reach."""

from __future__ import annotations

from typing import Final

from marshmallow import ValidationError, validate

from app.core.text import fold, unstorable

EMAIL_LENGTH: Final = 254  # what a path in SMTP can hold (RFC 5321, section 4.5.3.1.3)

_is_email = validate.Email()


def email_fault(email: str) -> str | None:
    """Why this is no e-mail address, or None."""
    if max(len(email), len(fold(email))) > EMAIL_LENGTH:  # ß is compared as ss
        return f"Must have at most {EMAIL_LENGTH} characters."
    try:
        _is_email(email)
    except ValidationError:
        return "Must be an e-mail address such as jo@example.org."
    return unstorable(email)


def same_address(first: str, second: str) -> bool:
    """Whether two addresses have one mailbox behind them: they differ in the case of ASCII letters
    at most. Case folding goes further (ß is ss, the Kelvin sign is k), and would have mail for one
    person sent to another."""
    return _lower(first) == _lower(second)


def _lower(address: str) -> str:
    return "".join(sign.lower() if sign.isascii() else sign for sign in address)
