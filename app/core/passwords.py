"""Passwords: hashed with Argon2id, and made up where nobody chose one."""

from __future__ import annotations

import secrets

from argon2 import PasswordHasher

_hasher = PasswordHasher()
_SYLLABLES = "bcdfghjklmnprstvz"
_VOWELS = "aeiou"


def hash_password(password: str) -> str:
    """The Argon2id hash with its parameters and salt, in the PHC string format."""
    return _hasher.hash(password)


def make_password() -> str:
    """A random password that can be read aloud: five groups, about 65 random bits."""
    groups = ("".join(_syllable() for _ in range(2)) for _ in range(5))
    return "-".join(groups)


def _syllable() -> str:
    return secrets.choice(_SYLLABLES) + secrets.choice(_VOWELS)
