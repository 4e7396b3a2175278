"""Passwords: hashed with Argon2id, judged, and made up where nobody chose one."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from flask import Flask, current_app
from zxcvbn import zxcvbn

from app.policy.people import PASSWORD_LENGTH
from app.values.text import unstorable
from config import Settings

_EXTENSION: Final = "canopy_passwords"
_AT_ONCE: Final = 2  # in a process: each fills its memory, and a core
_EASY: Final = 1  # the score of zxcvbn below which a password falls to less than a million guesses
_JUDGED: Final = 24  # characters; over more zxcvbn can be made to take seconds
_SYLLABLES: Final = "bcdfghjklmnprstvz"
_VOWELS: Final = "aeiou"


class Passwords:
    """Hashes with the parameters of the settings, a few at a time."""

    def __init__(self, settings: Settings) -> None:
        self.hasher = PasswordHasher(
            time_cost=settings.password_time_cost,
            memory_cost=settings.password_memory_kib,
            parallelism=settings.password_parallelism,
        )
        self.slots = threading.BoundedSemaphore(_AT_ONCE)
        self._nobodys: str | None = None

    def hash(self, password: str) -> str:
        with self.slots:
            return self.hasher.hash(password)

    def nobodys(self) -> str:
        """A hash that takes as long to compare with as anybody's, and that no password has."""
        if self._nobodys is None:
            self._nobodys = self.hash(secrets.token_urlsafe(32))
        return self._nobodys

    def verify(self, known: str | None, password: str) -> bool:
        kept = known or self.nobodys()
        try:
            with self.slots:
                self.hasher.verify(kept, password)
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False
        return known is not None


def init_app(app: Flask, settings: Settings) -> None:
    app.extensions[_EXTENSION] = Passwords(settings)


def hash_password(password: str) -> str:
    """The Argon2id hash with its parameters and salt, in the PHC string format."""
    return _passwords().hash(password)


def verify_password(known: str | None, password: str) -> bool:
    """Whether a password has this hash. Without a hash it takes the same time, and has not."""
    return _passwords().verify(known, password)


def needs_rehash(known: str) -> bool:
    """Whether a hash was made with other parameters than those of the settings."""
    return _passwords().hasher.check_needs_rehash(known)


def password_problem(password: str, about: Iterable[str] = ()) -> str | None:
    """Why this cannot be a password, or None.

    Args:
        about: what others know of the person, such as their name; it makes no good password.
    """
    shortest, longest = PASSWORD_LENGTH
    if not shortest <= len(password) <= longest:
        return f"Must have {shortest} to {longest} characters."
    if fault := unstorable(password):
        return fault
    words = (word for text in about for word in (text, *text.replace("@", " ").split()))
    known = ["canopy", *words]
    if zxcvbn(password[:_JUDGED], user_inputs=known)["score"] <= _EASY:
        return "Is one of the first that a guesser tries. Take a few words that do not go together."
    return None


def make_password() -> str:
    """A random password that can be read aloud: five groups, about 65 random bits."""
    groups = ("".join(_syllable() for _ in range(2)) for _ in range(5))
    return "-".join(groups)


def _passwords() -> Passwords:
    found: Passwords = current_app.extensions[_EXTENSION]
    return found


def _syllable() -> str:
    return secrets.choice(_SYLLABLES) + secrets.choice(_VOWELS)
