"""The WebAuthn messages that the service and a browser exchange about passkeys.

Imported only when a browser sends or needs one: the library takes 4 MB.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import webauthn
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509 import DuplicateExtension, InvalidVersion
from webauthn.authentication.verify_authentication_response import VerifiedAuthentication
from webauthn.helpers import (
    base64url_to_bytes,
    bytes_to_base64url,
    decode_credential_public_key,
    decoded_public_key_to_cryptography,
    parse_authentication_credential_json,
    parse_client_data_json,
    parse_registration_credential_json,
    verify_signature,
)
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)
from webauthn.registration.verify_registration_response import VerifiedRegistration

from app.http.urls import absolute_url
from app.people.second_factor.relying_party import BadResponse, KnownPasskey, relying_party_id
from app.policy.second_factor import RSA_BITS, SECOND_STEP_LIFE

_TIMEOUT: Final = int(SECOND_STEP_LIFE.total_seconds() * 1000)  # milliseconds
_PREFERRED: Final = UserVerificationRequirement.PREFERRED
# Errors of the library for responses that no browser makes.
_MALFORMED: Final = (
    WebAuthnException, InvalidSignature, UnsupportedAlgorithm, ValueError, TypeError, LookupError,
    AttributeError, OverflowError, RecursionError, struct.error, InvalidVersion, DuplicateExtension,
)  # fmt: skip


class NewPasskey(NamedTuple):
    """The stored values of a new passkey; ``credential_id`` is base64url."""

    credential_id: str
    public_key: bytes
    sign_count: int
    transports: str


def registration_options(
    user_id: str, email: str, issuer: str, challenge: bytes, passkeys: Sequence[KnownPasskey]
) -> str:
    """The options, as JSON, to create a passkey in a browser that has none of ``passkeys``."""
    selection = AuthenticatorSelectionCriteria(
        resident_key=ResidentKeyRequirement.PREFERRED, user_verification=_PREFERRED
    )
    options = webauthn.generate_registration_options(
        rp_id=relying_party_id(),
        rp_name=issuer,
        user_id=user_id.encode(),
        user_name=email,
        challenge=challenge,
        timeout=_TIMEOUT,
        authenticator_selection=selection,
        exclude_credentials=[_passkey_descriptor(passkey) for passkey in passkeys],
    )
    return webauthn.options_to_json(options)


def sign_in_options(challenge: bytes, passkeys: Sequence[KnownPasskey]) -> str:
    """The options, as JSON, to let one of these passkeys sign."""
    options = webauthn.generate_authentication_options(
        rp_id=relying_party_id(),
        challenge=challenge,
        timeout=_TIMEOUT,
        allow_credentials=[_passkey_descriptor(passkey) for passkey in passkeys],
        user_verification=_PREFERRED,
    )
    return webauthn.options_to_json(options)


class BrowserResponse(NamedTuple):
    """A browser's response, parsed but not verified."""

    credential: Any
    challenge: bytes  # that it claims to have signed

    @property
    def credential_id(self) -> str:
        """The id of the passkey that it claims to be of, base64url."""
        id_: str = self.credential.id
        return id_


def _passkey_descriptor(passkey: KnownPasskey) -> PublicKeyCredentialDescriptor:
    transports = [AuthenticatorTransport(name) for name in passkey.transports.split()]
    return PublicKeyCredentialDescriptor(
        id=base64url_to_bytes(passkey.credential_id), transports=transports or None
    )


def read_registration(text: str) -> BrowserResponse:
    """Parse the response to ``registration_options``, which is JSON. Raises BadResponse."""
    return _parse_response(parse_registration_credential_json, text)


def read_sign_in(text: str) -> BrowserResponse:
    """Parse the response to ``sign_in_options``, which is JSON. Raises BadResponse."""
    return _parse_response(parse_authentication_credential_json, text)


def _parse_response(parse: Any, text: str) -> BrowserResponse:
    try:
        credential = parse(text)
        data = parse_client_data_json(credential.response.client_data_json)
    except _MALFORMED as error:
        raise BadResponse from error
    return BrowserResponse(credential, data.challenge)


def verify_registration(response: BrowserResponse) -> NewPasskey:
    """Verify a new passkey. Its challenge must have been used up. Raises BadResponse."""
    try:
        verified: VerifiedRegistration = webauthn.verify_registration_response(
            credential=response.credential,
            expected_challenge=response.challenge,
            expected_rp_id=relying_party_id(),
            expected_origin=absolute_url(""),
        )
        _check_can_verify(verified.credential_public_key)
    except _MALFORMED as error:
        raise BadResponse from error
    transports = response.credential.response.transports or ()
    names = " ".join(sorted({transport.value for transport in transports}))
    return NewPasskey(
        bytes_to_base64url(verified.credential_id),
        verified.credential_public_key,
        verified.sign_count,
        names,
    )


def _check_can_verify(public_key: bytes) -> None:
    """Raise one of ``_MALFORMED`` for a key for which no signature can be valid. The library only
    parses the numbers of a new key."""
    decoded = decode_credential_public_key(public_key)
    key = decoded_public_key_to_cryptography(decoded)
    if isinstance(key, RSAPublicKey) and key.key_size < RSA_BITS:
        raise ValueError("a small RSA key")
    with suppress(InvalidSignature):  # anything else: the key is not for its algorithm
        verify_signature(public_key=key, signature_alg=decoded.alg, signature=b"", data=b"")


def verify_sign_in(response: BrowserResponse, public_key: bytes, sign_count: int) -> int:
    """Verify a passkey's signature. Its challenge must have been used up.

    Returns the passkey's new signature count.

    Raises:
        BadResponse: the signature is invalid, or the count is not higher than before, which means
            that there is a copy of the passkey.
    """
    try:
        verified: VerifiedAuthentication = webauthn.verify_authentication_response(
            credential=response.credential,
            expected_challenge=response.challenge,
            expected_rp_id=relying_party_id(),
            expected_origin=absolute_url(""),
            credential_public_key=public_key,
            credential_current_sign_count=sign_count,
        )
    except _MALFORMED as error:
        raise BadResponse from error
    return verified.new_sign_count
