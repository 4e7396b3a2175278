"""The messages of WebAuthn that the service and a browser exchange about passkeys.

The relying party is the host of ``PUBLIC_URL``; where that is not set, the host that the browser
names, as on a developer's machine.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import webauthn
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509 import DuplicateExtension, InvalidVersion
from webauthn.authentication.verify_authentication_response import VerifiedAuthentication
from webauthn.helpers import (
    base64url_to_bytes,
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
from app.policy.second_factor import RSA_BITS, SECOND_STEP_LIFE

_TIMEOUT: Final = int(SECOND_STEP_LIFE.total_seconds() * 1000)  # milliseconds
_PREFERRED: Final = UserVerificationRequirement.PREFERRED
# What the library raises for a response that no browser has made.
_MALFORMED: Final = (
    WebAuthnException, InvalidSignature, UnsupportedAlgorithm, ValueError, TypeError, LookupError,
    AttributeError, OverflowError, RecursionError, struct.error, InvalidVersion, DuplicateExtension,
)  # fmt: skip


class BadResponse(Exception):
    """A browser's response cannot be read, or is not right."""


class KnownPasskey(NamedTuple):
    """A passkey that was registered.

    Attributes:
        credential_id: base64url.
        transports: how the browser reaches it, by spaces.
    """

    credential_id: str
    transports: str

    def descriptor(self) -> PublicKeyCredentialDescriptor:
        transports = [AuthenticatorTransport(name) for name in self.transports.split()]
        return PublicKeyCredentialDescriptor(
            id=base64url_to_bytes(self.credential_id), transports=transports or None
        )


class NewPasskey(NamedTuple):
    """What is stored of a new passkey."""

    credential_id: bytes
    public_key: bytes
    sign_count: int
    transports: str


def _relying_party_id() -> str:
    """The host for which passkeys are created."""
    return urlsplit(absolute_url("")).hostname or ""


def is_possible() -> bool:
    """Whether browsers can create passkeys for the host: not for an IP address."""
    try:
        ipaddress.ip_address(_relying_party_id())
    except ValueError:
        return True
    return False


def registration_options(
    user_id: str, email: str, issuer: str, challenge: bytes, known: Sequence[KnownPasskey]
) -> str:
    """The options with which a browser creates a passkey, as JSON. It creates none if it has one of
    ``known``."""
    selection = AuthenticatorSelectionCriteria(
        resident_key=ResidentKeyRequirement.PREFERRED, user_verification=_PREFERRED
    )
    options = webauthn.generate_registration_options(
        rp_id=_relying_party_id(),
        rp_name=issuer,
        user_id=user_id.encode(),
        user_name=email,
        challenge=challenge,
        timeout=_TIMEOUT,
        authenticator_selection=selection,
        exclude_credentials=[each.descriptor() for each in known],
    )
    return webauthn.options_to_json(options)


def sign_in_options(challenge: bytes, known: Sequence[KnownPasskey]) -> str:
    """The options with which a browser has one of these passkeys sign, as JSON."""
    options = webauthn.generate_authentication_options(
        rp_id=_relying_party_id(),
        challenge=challenge,
        timeout=_TIMEOUT,
        allow_credentials=[each.descriptor() for each in known],
        user_verification=_PREFERRED,
    )
    return webauthn.options_to_json(options)


class Response(NamedTuple):
    """A browser's response, read but not verified."""

    credential: Any
    challenge: bytes  # that it says to have signed

    @property
    def credential_id(self) -> str:
        """Which passkey it says it is of, base64url."""
        found: str = self.credential.id
        return found


def read_registration(text: str) -> Response:
    """The response to ``registration_options``, as JSON. Raises BadResponse."""
    return _read(parse_registration_credential_json, text)


def read_sign_in(text: str) -> Response:
    """The response to ``sign_in_options``, as JSON. Raises BadResponse."""
    return _read(parse_authentication_credential_json, text)


def _read(parse: Any, text: str) -> Response:
    try:
        credential = parse(text)
        data = parse_client_data_json(credential.response.client_data_json)
    except _MALFORMED as error:
        raise BadResponse from error
    return Response(credential, data.challenge)


def verify_registration(response: Response) -> NewPasskey:
    """A new passkey. Its challenge must have been used up. Raises BadResponse."""
    try:
        verified: VerifiedRegistration = webauthn.verify_registration_response(
            credential=response.credential,
            expected_challenge=response.challenge,
            expected_rp_id=_relying_party_id(),
            expected_origin=absolute_url(""),
        )
        _check_can_verify(verified.credential_public_key)
    except _MALFORMED as error:
        raise BadResponse from error
    transports = response.credential.response.transports or ()
    names = " ".join(sorted({each.value for each in transports}))
    return NewPasskey(
        verified.credential_id, verified.credential_public_key, verified.sign_count, names
    )


def _check_can_verify(public_key: bytes) -> None:
    """Raises one of ``_MALFORMED`` for a key for which no signature is ever right. The library only
    reads the numbers of a new key."""
    decoded = decode_credential_public_key(public_key)
    key = decoded_public_key_to_cryptography(decoded)
    if isinstance(key, RSAPublicKey) and key.key_size < RSA_BITS:
        raise ValueError("a small RSA key")
    with suppress(InvalidSignature):  # anything else: the key is not for its algorithm
        verify_signature(public_key=key, signature_alg=decoded.alg, signature=b"", data=b"")


def verify_sign_in(response: Response, public_key: bytes, sign_count: int) -> int:
    """Verify a passkey's signature. Its challenge must have been used up.

    Returns the passkey's new count of signatures. Raises BadResponse, also if the count is not
    higher than before: then there is a copy of the passkey.
    """
    try:
        verified: VerifiedAuthentication = webauthn.verify_authentication_response(
            credential=response.credential,
            expected_challenge=response.challenge,
            expected_rp_id=_relying_party_id(),
            expected_origin=absolute_url(""),
            credential_public_key=public_key,
            credential_current_sign_count=sign_count,
        )
    except _MALFORMED as error:
        raise BadResponse from error
    return verified.new_sign_count
