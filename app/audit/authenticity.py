"""The codes that tell entries of this service from rows that were put in or changed with SQL before
they were sealed: HMAC-SHA256, with a key derived from ``SECRET_KEY``."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from flask import Flask, current_app

_EXTENSION: Final = "canopy_audit_keys"


def init_app(app: Flask, secret_key: str, former_secret_key: str | None = None) -> None:
    """
    Args:
        former_secret_key: a key with which entries may have been written that are not sealed yet.
    """
    keys = [secret_key, *([former_secret_key] if former_secret_key else [])]
    app.extensions[_EXTENSION] = [
        hashlib.sha256(b"canopy audit\0" + key.encode()).digest() for key in keys
    ]


def code_of(body: bytes) -> str:
    """The code of an entry, in hexadecimal."""
    return hmac.digest(current_app.extensions[_EXTENSION][0], body, "sha256").hex()


def is_authentic(body: bytes, code: str) -> bool:
    """Whether this instance has written an entry."""
    return any(
        hmac.compare_digest(hmac.digest(key, body, "sha256").hex(), code)
        for key in current_app.extensions[_EXTENSION]
    )
