"""E-mail addresses: their form, and nothing about whom they reach."""

from __future__ import annotations

import unicodedata
from typing import Final

from marshmallow import ValidationError, validate

from app.values.text import fold, unstorable

EMAIL_LENGTH: Final = 254  # what a path in SMTP can hold (RFC 5321, section 4.5.3.1.3)

_is_email = validate.Email()


def email_problem(email: str) -> str | None:
    """Why this is no e-mail address, or None."""
    if max(len(email), len(fold(email))) > EMAIL_LENGTH:  # ß is compared as ss
        return f"Must have at most {EMAIL_LENGTH} characters."
    try:
        _is_email(email)
    except ValidationError:
        return "Must be an e-mail address such as jo@example.org."
    if not _is_plain(email):
        return "Must be written as its mail server knows it, in lower case and without quotes."
    return unstorable(email)


def _is_plain(email: str) -> bool:
    """Whether comparing it in whatever way gives itself, and no program takes it for a link.

    Case folding has signs for several others (ß is ss, the Kelvin sign is k), and a domain has
    other spellings, such as those of full width. One address could then be taken for another.
    """
    local, _, domain = email.rpartition("@")
    is_same = fold(email) == _lower(email) and _is_domain(domain)
    return is_same and not set(local) & set('"/?#&:\\')


def _is_domain(domain: str) -> bool:
    return unicodedata.normalize("NFKC", domain).casefold() == _lower(domain)


def same_address(first: str, second: str) -> bool:
    """Whether two addresses have one mailbox behind them: they differ in the case of ASCII letters
    at most. Case folding goes further (ß is ss, the Kelvin sign is k), and would have mail for one
    person sent to another."""
    return _lower(first) == _lower(second)


def _lower(address: str) -> str:
    return "".join(sign.lower() if sign.isascii() else sign for sign in address)
