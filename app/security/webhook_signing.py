"""Secrets of webhooks, and the headers of their requests.

Each request is signed in two forms. ``X-Service-Signature`` is an HMAC of the body, keyed with the
secret's text. ``webhook-signature`` is that of Standard Webhooks (https://www.standardwebhooks.com):
it also signs the id and the time, and may hold several signatures.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
import zlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from app.policy.deliveries import USER_AGENT
from app.security.signatures import signature_header

PREFIX: Final = "whsec_"
_RANDOM_BYTES: Final = 26  # 208 bits
_CHECK_BYTES: Final = 4
_MIN_KEY_BYTES: Final = 16  # of a key in base64; a shorter one can be guessed


def new_secret() -> str:
    """Return a new secret: the prefix, and base64 of random bytes and their checksum."""
    body = secrets.token_bytes(_RANDOM_BYTES)
    check = zlib.crc32(body).to_bytes(_CHECK_BYTES)
    return PREFIX + base64.b64encode(body + check).decode()


def delivery_headers(
    event_id: str, event_type: str, delivery_id: str, moment: datetime
) -> dict[str, str]:
    """Return the headers of a delivery, without the signatures and the connection's headers.

    Args:
        moment: time of the attempt.
    """
    return {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "X-Service-Event": event_type,
        "X-Service-Delivery": delivery_id,
        "webhook-id": event_id,
        "webhook-timestamp": str(_epoch_seconds(moment)),
    }


def signature_headers(
    secret_texts: Sequence[str], event_id: str, moment: datetime, body: bytes
) -> dict[str, str]:
    """Return the headers with signatures.

    Args:
        secret_texts: the secret and, for a while after a rotation, the former one.
        moment: time of the attempt.
        body: the bytes to send.
    """
    signed = f"{event_id}.{_epoch_seconds(moment)}.".encode() + body
    standard = (hmac.digest(standard_key(text), signed, "sha256") for text in secret_texts)
    return {
        "X-Service-Signature": signature_header(secret_texts[0], body),
        "webhook-signature": " ".join(
            f"v1,{base64.b64encode(digest).decode()}" for digest in standard
        ),
    }


def standard_key(secret: str) -> bytes:
    """Return the key of ``webhook-signature``: the secret decoded from base64, as in Standard
    Webhooks. A customer's own secret that has another form, or decodes to too few bytes, is used
    undecoded."""
    if secret.startswith(PREFIX):
        with suppress(binascii.Error):
            key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
            if len(key) >= _MIN_KEY_BYTES:
                return key
    return secret.encode()


def _epoch_seconds(moment: datetime) -> int:
    return int(moment.timestamp())
