"""The syntax of email addresses, and when two of them are the same."""

from __future__ import annotations

import unicodedata
from typing import Final

from marshmallow import ValidationError, validate

from app.values.folding import fold_text
from app.values.text import storage_problem

EMAIL_LENGTH: Final = 254  # the longest in an SMTP path (RFC 5321, section 4.5.3.1.3)

_is_email = validate.Email()


def email_problem(email: str) -> str | None:
    """The reason why this is not a valid email address, or None."""
    if len(email) > EMAIL_LENGTH or len(fold_text(email)) > EMAIL_LENGTH:  # ß is compared as ss
        return f"Must have at most {EMAIL_LENGTH} characters."
    try:
        _is_email(email)
    except ValidationError:
        return "Must be an email address such as jo@example.org."
    if not _is_plain(email):
        return "Must be a plain lower-case address without quotes."
    return storage_problem(email)


def _is_plain(email: str) -> bool:
    """True if an address has one spelling only, and no program takes it for a link.

    Case folding maps several characters to one (ß to ss, the Kelvin sign to k), and domains have
    other spellings, such as full-width ones. One address could then pass for another.
    """
    local, _, domain = email.rpartition("@")
    is_same = fold_text(email) == _lower_domain(email) and _is_domain(domain)
    return is_same and not set(local) & set('"/?#&:\\')


def _is_domain(domain: str) -> bool:
    return unicodedata.normalize("NFKC", domain).casefold() == _lower_domain(domain)


def same_address(first: str, second: str) -> bool:
    """True if two addresses are the same mailbox, except for the case of ASCII letters.

    Case folding goes further (ß is ss, the Kelvin sign is k); it would send one person's mail to
    another.
    """
    return _lower_domain(first) == _lower_domain(second)


def _lower_domain(address: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in address)
