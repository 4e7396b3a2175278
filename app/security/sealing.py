"""Encryption of values that the service has to read again: Fernet, with a key derived from
``SECRET_KEY``."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any, Final

import orjson
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from flask import Flask, current_app

_EXTENSION: Final = "canopy_sealing"


def init_app(app: Flask, secret_key: str, former_secret_key: str | None = None) -> None:
    """Give ``app`` its keys. The former one only decrypts."""
    keys = [secret_key, *([former_secret_key] if former_secret_key else [])]
    app.extensions[_EXTENSION] = sealer_of(*keys)


def sealer_of(*secret_keys: str) -> MultiFernet:
    """Return what decrypts with any of these keys, and encrypts with the first."""
    return MultiFernet([_fernet_of(key) for key in secret_keys])


def is_sealed_by(sealer: MultiFernet, text: str | bytes) -> bool:
    """True if ``sealer`` can decrypt a sealed value."""
    try:
        sealer.decrypt(text)
    except InvalidToken:
        return False
    return True


def is_readable(text: str) -> bool:
    """True if the application's keys can decrypt a sealed value."""
    return is_sealed_by(_current_fernet(), text)


def key_check(secret_key: str) -> str:
    """Return twenty bits of a digest of a key: enough to notice another key, too few to guess
    it."""
    return hmac.new(secret_key.encode(), b"canopy backup", hashlib.sha256).hexdigest()[:5]


def seal(value: Any) -> str:
    """Encrypt and authenticate a JSON value."""
    return _current_fernet().encrypt(orjson.dumps(value)).decode()


def unseal(text: str) -> Any:
    """Return the value that was sealed.

    Raises:
        ValueError: it was sealed with another ``SECRET_KEY``, or changed.
    """
    try:
        return orjson.loads(_current_fernet().decrypt(text.encode()))
    except InvalidToken:
        raise ValueError("encrypted with another SECRET_KEY") from None


def reseal(text: str) -> str:
    """Seal the same value with the current ``SECRET_KEY``. Raises ValueError as ``unseal``."""
    try:
        return _current_fernet().rotate(text.encode()).decode()
    except InvalidToken:
        raise ValueError("encrypted with another SECRET_KEY") from None


def _current_fernet() -> MultiFernet:
    fernet: MultiFernet = current_app.extensions[_EXTENSION]
    return fernet


def _fernet_of(secret_key: str) -> Fernet:
    digest = hashlib.sha256(b"canopy sealing\0" + secret_key.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
