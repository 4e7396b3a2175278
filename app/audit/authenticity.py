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


def keys_of(secret_key: str, former_secret_key: str | None = None) -> list[hmac.HMAC]:
    """The keys of the codes, each as an HMAC of nothing yet; the first one makes them."""
    known = [secret_key, *([former_secret_key] if former_secret_key else [])]
    derived = (hashlib.sha256(b"canopy audit\0" + key.encode()).digest() for key in known)
    return [hmac.new(key, digestmod="sha256") for key in derived]


def code_of(body: bytes, key: hmac.HMAC | None = None) -> str:
    """The code of an entry, in hexadecimal.

    Args:
        key: one of ``keys_of``; None: that of this instance.
    """
    # OpenSSL takes several times as long to begin an HMAC as to copy one.
    code: hmac.HMAC = (key or current_app.extensions[_EXTENSION][0]).copy()
    code.update(body)
    return code.hexdigest()


def is_authentic(body: bytes, code: str, keys: list[hmac.HMAC] | None = None) -> bool:
    """Whether this instance has written an entry.

    Args:
        keys: those of ``keys_of``, where there is no application.
    """
    given = code.encode()
    return any(
        hmac.compare_digest(code_of(body, key).encode(), given)
        for key in keys or current_app.extensions[_EXTENSION]
    )
