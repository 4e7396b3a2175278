"""Codes of authenticator apps (RFC 6238): secrets, and the steps of time that codes belong to."""

from __future__ import annotations

import base64
import secrets
from typing import Final

import segno
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from app.policy.second_factor import CODE_DIGITS, CODE_DRIFT, CODE_SECONDS, SECRET_BYTES
from app.security.signatures import is_same
from app.values import clock

_GROUP: Final = 4  # characters of a secret that stand together when it is typed


def new_secret() -> bytes:
    """A new random secret."""
    return secrets.token_bytes(SECRET_BYTES)


def typed(secret: bytes) -> str:
    """A secret as people type it into an app: base 32, in groups."""
    text = base64.b32encode(secret).decode().rstrip("=")
    return " ".join(text[start : start + _GROUP] for start in range(0, len(text), _GROUP))


def picture_address(secret: bytes, email: str, issuer: str) -> str:
    """The QR code that an app reads the secret from, as a picture in a ``data:`` URL.

    Args:
        issuer: what the app calls the codes, beside the address.
    """
    totp = TOTP(secret, CODE_DIGITS, SHA1(), CODE_SECONDS)  # noqa: S303 - as apps know it
    address = totp.get_provisioning_uri(email, issuer.replace(":", " "))
    code = segno.make(address, error="m", micro=False)
    return str(code.svg_data_uri(scale=4, dark="#000", light="#fff"))


def step_of(secret: bytes, code: str) -> int | None:
    """The step of time that a code is of; None if it is not right now. The caller accepts no step
    twice. Takes equally long whichever digits are right."""
    text = "".join(code.split())
    hotp = HOTP(secret, CODE_DIGITS, SHA1())  # noqa: S303
    current = int(clock.now().timestamp()) // CODE_SECONDS
    found = None
    for step in range(current - CODE_DRIFT, current + CODE_DRIFT + 1):
        if is_same(text, hotp.generate(step).decode()):
            found = step
    return found
