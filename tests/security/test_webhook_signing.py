"""Secrets, and the keys that they stand for."""

from __future__ import annotations

import base64

from app.security.webhook_signing import new_secret, standard_key


def test_a_new_secret_is_random_and_has_a_checksum() -> None:
    first, second = new_secret(), new_secret()
    assert first != second
    assert first.startswith("whsec_")
    assert len(base64.b64decode(first.removeprefix("whsec_"), validate=True)) == 30


def test_the_key_of_a_secret() -> None:
    for secret, key in (
        (
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            b"1\xf2\x90\xf6\xbf\x06)\x8a\xabO\x08\xd4<?\x08,\xf6H\xa3b\xda-\xa4\xb0",
        ),
        ("whsec_not-base64", b"whsec_not-base64"),
        ("whsec_AA==", b"whsec_AA=="),
        ("whsec_AAAAAAAAAAAAAAAAAAAA", b"whsec_AAAAAAAAAAAAAAAAAAAA"),  # 15 bytes
        ("whsec_AAAAAAAAAAAAAAAAAAAAAA==", bytes(16)),
        ("my-own-secret", b"my-own-secret"),
    ):
        assert standard_key(secret) == key, secret
