"""Codes of authenticator apps (RFC 6238): secrets, and the time steps of codes."""

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

_GROUP: Final = 4  # characters of a typed secret


def new_secret() -> bytes:
    """Make a random secret."""
    return secrets.token_bytes(SECRET_BYTES)


def readable_key(secret: bytes) -> str:
    """A secret in base 32, in groups of four characters, to type into an app."""
    text = base64.b32encode(secret).decode().rstrip("=")
    return " ".join(text[start : start + _GROUP] for start in range(0, len(text), _GROUP))


def qr_code_url(secret: bytes, email: str, issuer: str) -> str:
    """The QR code of a secret, as the ``data:`` URL of an image.

    Args:
        issuer: the name that the app shows beside the address.
    """
    totp = TOTP(secret, CODE_DIGITS, SHA1(), CODE_SECONDS)  # noqa: S303 - as apps know it
    address = totp.get_provisioning_uri(email, issuer.replace(":", " "))
    code = segno.make(address, error="m", micro=False)
    return str(code.svg_data_uri(scale=4, dark="#000", light="#fff"))


def time_step(secret: bytes, code: str) -> int | None:
    """The time step of a code, or None if the code is wrong now. Callers must not accept a step
    twice. Takes equally long whichever digits are right."""
    text = "".join(code.split())
    hotp = HOTP(secret, CODE_DIGITS, SHA1())  # noqa: S303
    current = int(clock.now().timestamp()) // CODE_SECONDS
    matching = None
    for step in range(current - CODE_DRIFT, current + CODE_DRIFT + 1):
        if is_same(text, hotp.generate(step).decode()):
            matching = step
    return matching
