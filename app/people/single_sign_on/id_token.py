"""Checking an ID token (OpenID Connect Core 1.0, section 3.1.3.7)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, NamedTuple

from authlib.oidc.core import CodeIDToken
from cryptography.exceptions import UnsupportedAlgorithm
from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import JWKRegistry, KeySet
from joserfc.jws import JWSRegistry

from app.people.single_sign_on.interface import ProviderFailed
from app.policy.single_sign_on import ALGORITHMS, CLOCK_SKEW, HEADER_BYTES, SUBJECT_LENGTH

# Errors of the libraries for tokens that no provider makes.
_MALFORMED: Final = (
    JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError, UnsupportedAlgorithm
)  # fmt: skip
_REGISTRY: Final = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
_REGISTRY.max_header_length = HEADER_BYTES


class ExpectedClaims(NamedTuple):
    """The claims that a token must have."""

    issuer: str
    client_id: str
    nonce: str


class UnknownKey(ProviderFailed):
    """The token is not signed by any of these keys. The provider may have newer ones."""


def check_id_token(response: Any, keys: Any, expected: ExpectedClaims) -> dict[str, Any]:
    """Verify an ID token and return its claims.

    Args:
        response: the response of the token endpoint, with ``id_token`` and ``access_token``.
        keys: the key set that the provider publishes (RFC 7517).

    Raises:
        UnknownKey: the token is signed by another key.
        ProviderFailed: the token is missing, malformed, expired, or for somebody else.
    """
    token = response.get("id_token")
    if not isinstance(token, str):
        raise ProviderFailed("there is no ID token")
    try:
        decoded = jwt.decode(token, _readable_keys(keys), registry=_REGISTRY)
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            {
                "iss": {"essential": True, "value": expected.issuer},
                "aud": {"essential": True, "value": expected.client_id},
                "sub": {"essential": True},
                "nonce": {"essential": True, "value": expected.nonce},
            },
            {
                "client_id": expected.client_id,
                "nonce": expected.nonce,
                "access_token": response.get("access_token"),
            },
        )
        claims.validate(leeway=CLOCK_SKEW)
    except (InvalidKeyIdError, BadSignatureError) as error:
        raise UnknownKey(f"ID token: {type(error).__name__}") from None
    except _MALFORMED as error:
        raise ProviderFailed(f"ID token: {type(error).__name__} {error}") from None
    subject = claims["sub"]
    is_text = isinstance(subject, str) and subject.isascii() and subject.isprintable()
    if not is_text or not 0 < len(subject) <= SUBJECT_LENGTH:
        raise ProviderFailed("ID token: sub is not as it must be")
    return dict(claims)


def _readable_keys(keys: Any) -> KeySet:
    """The keys of a set that can be read. Keys of unknown kinds are skipped (RFC 7517, section 5).

    Raises:
        ProviderFailed: no key can be read.
    """
    listed = keys.get("keys") if isinstance(keys, dict) else None
    readable = []
    for key in listed if isinstance(listed, list) else []:
        with suppress(*_MALFORMED):
            readable.append(JWKRegistry.import_key(key))
    if not readable:
        raise ProviderFailed("the provider publishes no key that can be read")
    return KeySet(readable)
