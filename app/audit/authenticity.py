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
    app.extensions[_EXTENSION] = keys_of(secret_key, former_secret_key)


def keys_of(secret_key: str, former_secret_key: str | None = None) -> list[bytes]:
    """The keys of the codes; the first one makes them."""
    known = [secret_key, *([former_secret_key] if former_secret_key else [])]
    return [hashlib.sha256(b"canopy audit\0" + key.encode()).digest() for key in known]


def code_of(body: bytes) -> str:
    """The code of an entry, in hexadecimal."""
    return hmac.digest(current_app.extensions[_EXTENSION][0], body, "sha256").hex()


def is_authentic(body: bytes, code: str, keys: list[bytes] | None = None) -> bool:
    """Whether this instance has written an entry.

    Args:
        keys: those of ``keys_of``, where there is no application.
    """
    given = code.encode()
    return any(
        hmac.compare_digest(hmac.digest(key, body, "sha256").hex().encode(), given)
        for key in keys or current_app.extensions[_EXTENSION]
    )
