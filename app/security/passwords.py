"""Passwords: hashing with Argon2id, strength, and random ones."""

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
_CONCURRENT_HASHES: Final = 2  # in a process; each takes its share of memory, and a core
_WEAK_SCORE: Final = 1  # of zxcvbn: at most this score means fewer than a million guesses
_SCORED_LENGTH: Final = 24  # characters; longer input can make zxcvbn take seconds
_CONSONANTS: Final = "bcdfghjklmnprstvz"
_VOWELS: Final = "aeiou"


class Passwords:
    """Hashes with the parameters of the settings, a few at a time."""

    def __init__(self, settings: Settings) -> None:
        self.hasher = PasswordHasher(
            time_cost=settings.password_time_cost,
            memory_cost=settings.password_memory_kib,
            parallelism=settings.password_parallelism,
        )
        self.slots = threading.BoundedSemaphore(_CONCURRENT_HASHES)
        self._dummy_hash: str | None = None

    def hash(self, password: str) -> str:
        with self.slots:
            return self.hasher.hash(password)

    def dummy_hash(self) -> str:
        """A hash that takes as long to verify as any other, and that no password has."""
        if self._dummy_hash is None:
            self._dummy_hash = self.hash(secrets.token_urlsafe(32))
        return self._dummy_hash

    def verify(self, password_hash: str | None, password: str) -> bool:
        known = password_hash or self.dummy_hash()  # which takes a slot of its own
        try:
            with self.slots:
                self.hasher.verify(known, password)
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False
        return password_hash is not None


def init_app(app: Flask, settings: Settings) -> None:
    app.extensions[_EXTENSION] = Passwords(settings)


def hash_password(password: str) -> str:
    """The Argon2id hash with its parameters and salt, in the PHC string format."""
    return _passwords().hash(password)


def verify_password(password_hash: str | None, password: str) -> bool:
    """Return whether a password has this hash. False for None, after the same time."""
    return _passwords().verify(password_hash, password)


def needs_rehash(password_hash: str) -> bool:
    """Return whether a hash was made with other parameters than those of the settings."""
    return _passwords().hasher.check_needs_rehash(password_hash)


def password_problem(password: str, about: Iterable[str] = ()) -> str | None:
    """Why this cannot be a password, or None.

    Args:
        about: what others know about the person, such as their name, which is easily guessed.
    """
    shortest, longest = PASSWORD_LENGTH
    if not shortest <= len(password) <= longest:
        return f"Must have {shortest} to {longest} characters."
    if problem := unstorable(password):
        return problem
    words = (word for text in about for word in (text, *text.replace("@", " ").split()))
    known = ["canopy", *words]
    if zxcvbn(password[:_SCORED_LENGTH], user_inputs=known)["score"] <= _WEAK_SCORE:
        return "This password is too easy to guess. Use a few unrelated words."
    return None


def make_password() -> str:
    """A random password that can be read aloud: five groups, about 65 random bits."""
    groups = ("".join(_syllable() for _ in range(2)) for _ in range(5))
    return "-".join(groups)


def _passwords() -> Passwords:
    passwords: Passwords = current_app.extensions[_EXTENSION]
    return passwords


def _syllable() -> str:
    return secrets.choice(_CONSONANTS) + secrets.choice(_VOWELS)
