"""What the database keeps and must be able to read again, encrypted: Fernet, with a key that is
made of ``SECRET_KEY``."""

from __future__ import annotations

import base64
import hashlib
from typing import Any, Final

import orjson
from cryptography.fernet import Fernet, InvalidToken
from flask import Flask, current_app

_EXTENSION: Final = "canopy_sealing"


def init_app(app: Flask, secret_key: str) -> None:
    digest = hashlib.sha256(b"canopy sealing\0" + secret_key.encode()).digest()
    app.extensions[_EXTENSION] = Fernet(base64.urlsafe_b64encode(digest))


def seal(value: Any) -> str:
    """A JSON value, encrypted and authenticated, as text."""
    return _fernet().encrypt(orjson.dumps(value)).decode()


def unseal(text: str) -> Any:
    """What was sealed.

    Raises:
        ValueError: it was sealed with another ``SECRET_KEY``, or changed.
    """
    try:
        return orjson.loads(_fernet().decrypt(text.encode()))
    except InvalidToken:
        raise ValueError("sealed with another SECRET_KEY") from None


def _fernet() -> Fernet:
    found: Fernet = current_app.extensions[_EXTENSION]
    return found
