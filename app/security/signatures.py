"""Signatures of requests between services: HMAC-SHA256 (RFC 2104) over the raw body."""

from __future__ import annotations

import hmac


def sign_body(secret: str, body: bytes) -> str:
    """Return the hexadecimal HMAC-SHA256 of a body, keyed with the text of the secret."""
    return hmac.digest(secret.encode(), body, "sha256").hex()


def signature_header(secret: str, body: bytes) -> str:
    """Return the value of ``X-Service-Signature``: ``sha256=`` and the signature."""
    return f"sha256={sign_body(secret, body)}"


def is_signed(secret: str, body: bytes, header: str | None) -> bool:
    """True if ``header`` is the ``X-Service-Signature`` of ``body``, in constant time."""
    return is_same(header or "", signature_header(secret, body))


def is_same(given: str, expected: str) -> bool:
    """True if two signatures are equal, in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())
