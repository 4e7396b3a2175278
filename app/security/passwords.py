"""Passwords: hashing with Argon2id, strength, and random ones."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from flask import Flask, current_app

from app.policy.people import PASSWORD_LENGTH
from app.values.text import storage_problem
from config import Settings

_EXTENSION: Final = "canopy_passwords"
_WEAK_SCORE: Final = 1  # zxcvbn's for fewer than a million guesses
# zxcvbn would take seconds for more characters, and for more different characters that can stand
# for a letter, as it tries all their meanings together.
_SCORED_LENGTH: Final = 24
_SCORED_SUBSTITUTES: Final = 6
_MEANINGLESS: Final = "~^*&_;:,.?'#-=\\/"
_SPACES: Final = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_CONSONANTS: Final = "bcdfghjklmnprstvz"
_VOWELS: Final = "aeiou"


class Passwords:
    """Hashes with the parameters of the settings.

    Attributes:
        turn: makes a context to hash in, so that few hashes are computed at once: each takes much
            memory, and a core.
    """

    def __init__(self, settings: Settings) -> None:
        self.hasher = PasswordHasher(
            time_cost=settings.password_time_cost,
            memory_cost=settings.password_memory_kib,
            parallelism=settings.password_parallelism,
        )
        self.turn: Callable[[], AbstractContextManager[None]] = nullcontext
        self._dummy_hash: str | None = None

    def hash(self, password: str) -> str:
        with self.turn():
            return self.hasher.hash(password)

    def dummy_hash(self) -> str:
        """Return a hash that no password has. Verifying it takes as long as any other."""
        if self._dummy_hash is None:
            self._dummy_hash = self.hash(secrets.token_urlsafe(32))
        return self._dummy_hash

    def verify(self, password_hash: str | None, password: str) -> bool:
        hashed = password_hash or self.dummy_hash()  # outside the turn, as it takes one
        try:
            with self.turn():
                self.hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False
        return password_hash is not None


def init_app(app: Flask, settings: Settings) -> None:
    app.extensions[_EXTENSION] = Passwords(settings)


def hash_in_turns(app: Flask, turn: Callable[[], AbstractContextManager[None]]) -> None:
    """Hash in a context that ``turn`` makes, which may raise an error instead."""
    app.extensions[_EXTENSION].turn = turn


def hash_password(password: str) -> str:
    """Return the Argon2id hash of a password, however it was typed, with its parameters and salt,
    in the PHC string format."""
    return _application_passwords().hash(prepare_password(password))


def verify_password(password_hash: str | None, password: str) -> bool:
    """True if exactly this password has the hash. False for None, after the same time."""
    return _application_passwords().verify(password_hash, password)


def prepare_password(password: str) -> str:
    """Return the form of a password to hash, which is the same whatever device it was typed on:
    composed (NFC), with plain spaces (RFC 8265, section 4.2.2)."""
    return unicodedata.normalize("NFC", _SPACES.sub(" ", password))


def needs_rehash(password_hash: str) -> bool:
    """True if a hash has other parameters than the settings."""
    return _application_passwords().hasher.check_needs_rehash(password_hash)


def password_problem(password: str, about: Iterable[str] = ()) -> str | None:
    """Return why a text cannot be a password, or None.

    Args:
        about: texts about the person that others know, such as their name.
    """
    shortest, longest = PASSWORD_LENGTH
    password = prepare_password(password)
    if not shortest <= len(password) <= longest:
        return f"Must have {shortest} to {longest} characters."
    if problem := storage_problem(password):
        return problem
    words = (word for text in about for word in (text, *text.replace("@", " ").split()))
    if password_score(_scored_text(password), ["canopy", *words]) <= _WEAK_SCORE:
        return "This password is too easy to guess. Use a few unrelated words."
    return None


def password_score(password: str, words: Iterable[str]) -> int:
    """Return how hard a password is to guess, from 0 to 4, for somebody who knows these words."""
    from zxcvbn import zxcvbn  # noqa: PLC0415 - its lists of words take 12 MB

    score: int = zxcvbn(password, user_inputs=[*words])["score"]
    return score


def _scored_text(password: str) -> str:
    """Return the text to score for a password. It has few different substitutes of letters; further
    ones are replaced by meaningless characters."""
    from zxcvbn.matching import L33T_TABLE  # noqa: PLC0415

    substitutes = {char for chars in L33T_TABLE.values() for char in chars}
    scored = password[:_SCORED_LENGTH]
    present = [char for char in dict.fromkeys(scored) if char in substitutes]
    surplus = zip(present[_SCORED_SUBSTITUTES:], _MEANINGLESS, strict=False)
    return scored.translate({ord(char): other for char, other in surplus})


def make_password() -> str:
    """Return a random password that can be read aloud: five groups, about 65 random bits."""
    groups = ("".join(_random_syllable() for _ in range(2)) for _ in range(5))
    return "-".join(groups)


def _application_passwords() -> Passwords:
    passwords: Passwords = current_app.extensions[_EXTENSION]
    return passwords


def _random_syllable() -> str:
    return secrets.choice(_CONSONANTS) + secrets.choice(_VOWELS)
