"""The OpenID Connect provider: its metadata, its keys, and the exchange of a code."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple
from urllib.parse import quote_plus, urlencode

from authlib.oauth2.rfc7636 import create_s256_code_challenge
from flask import Flask

from app.outbound import Attempt, Egress, EgressError, TooLong, parse_target
from app.people.single_sign_on.id_token import ExpectedClaims, UnknownKey, check_id_token
from app.people.single_sign_on.interface import (
    EXTENSION,
    ProviderFailed,
    ProviderIdentity,
    RequestSecrets,
)
from app.policy.single_sign_on import DOCUMENTS_LIFE, REQUEST_SECONDS, RESPONSE_BYTES, SCOPES
from app.values.deadline import Deadline
from app.values.strict_json import loads
from app.values.version import VERSION
from config import Settings

CALLBACK: Final = "/login/single-sign-on/callback"
_DISCOVERY: Final = "/.well-known/openid-configuration"
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_USERINFO: Final = "userinfo_endpoint"
_AUTH_METHODS: Final = "token_endpoint_auth_methods_supported"
_HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": f"Canopy/{VERSION}",
}


def init_app(app: Flask) -> None:
    """Set up the provider of the settings. At most half of the web threads wait for it."""
    app.extensions[EXTENSION] = OpenIDProvider(app.config["SETTINGS"])


class _Document(NamedTuple):
    """A document that the provider publishes, and until when it is cached."""

    content: dict[str, Any]
    until: float  # on the monotonic clock


class OpenIDProvider:
    """The provider of ``OIDC_ISSUER``. One for a process; threads share it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._issuer = settings.oidc_issuer or ""
        self._client_id = settings.oidc_client_id or ""
        self._egress = Egress(for_operator=True)
        self._documents: dict[str, _Document] = {}
        self._slots = threading.BoundedSemaphore(max(1, settings.web_threads // 2))

    def authorization_url(self, sent: RequestSecrets) -> str:
        """The URL to redirect a browser to. Raises ProviderFailed."""
        with self._provider_slot():
            metadata = self.metadata()
        parameters = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self._redirect_uri,
            "scope": SCOPES,
            "state": sent.state,
            "nonce": sent.nonce,
            "code_challenge": create_s256_code_challenge(sent.verifier),
            "code_challenge_method": "S256",
        }
        url = str(metadata["authorization_endpoint"])
        return f"{url}{'&' if '?' in url else '?'}{urlencode(parameters)}"

    def identify(self, code: str, issuer: str | None, sent: RequestSecrets) -> ProviderIdentity:
        """Exchange the code of a browser that came back for the identity of its person.

        Args:
            issuer: the provider that the redirect names as its sender (RFC 9207).
            sent: the secrets of the request to which the code is the response.

        Raises:
            ProviderFailed: the provider cannot be reached, or its response is invalid.
        """
        with self._provider_slot():
            metadata = self.metadata()
            self._check_issuer(metadata, issuer)
            token = self._token(metadata, code, sent)
            claims = self._claims(metadata, token, sent)
            claims |= self._userinfo_claims(metadata, token, claims)
        return ProviderIdentity(claims["sub"], claims)

    def metadata(self) -> dict[str, Any]:
        """Read the provider's metadata (OpenID Connect Discovery 1.0).

        Raises:
            ProviderFailed: it cannot be read, or is invalid for the issuer.
        """
        address = self._issuer.rstrip("/") + _DISCOVERY
        metadata = self._document(address)
        try:
            self._check_metadata(metadata)
        except ProviderFailed:
            self._documents.pop(address, None)  # it may be valid the next time
            raise
        return metadata

    def _check_metadata(self, metadata: dict[str, Any]) -> None:
        if metadata.get("issuer") != self._issuer:
            raise ProviderFailed(f"the provider calls itself {str(metadata.get('issuer'))[:200]!r}")
        for name in (*_ENDPOINTS, _USERINFO):
            if not self._is_endpoint(metadata.get(name)) and (
                name in metadata or name != _USERINFO
            ):
                raise ProviderFailed(f"its {name} is no https address")
        if not isinstance(metadata.get(_AUTH_METHODS) or [], list):
            raise ProviderFailed(f"its {_AUTH_METHODS} is no list")

    def check(self) -> None:
        """Read the provider's metadata and keys. Raises ProviderFailed."""
        self._document(self.metadata()["jwks_uri"])

    @property
    def _redirect_uri(self) -> str:
        return self._settings.public_url + CALLBACK

    def _token(self, metadata: dict[str, Any], code: str, sent: RequestSecrets) -> dict[str, Any]:
        """The response of the token endpoint (RFC 6749, section 4.1.3)."""
        secret = self._settings.oidc_client_secret or ""
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": sent.verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if "client_secret_basic" in (metadata.get(_AUTH_METHODS) or ["client_secret_basic"]):
            pair = f"{quote_plus(self._client_id)}:{quote_plus(secret)}"  # RFC 6749, section 2.3.1
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            fields |= {"client_id": self._client_id, "client_secret": secret}
        body = urlencode(fields).encode()
        return self._request("POST", metadata["token_endpoint"], headers, body)

    def _claims(self, metadata: dict[str, Any], token: Any, sent: RequestSecrets) -> dict[str, Any]:
        """The claims of the ID token. Cached keys are read again if none of them fits."""
        expected = ExpectedClaims(self._issuer, self._client_id, sent.nonce)
        address = metadata["jwks_uri"]
        was_cached = address in self._documents
        try:
            return check_id_token(token, self._document(address), expected)
        except ProviderFailed as error:
            self._documents.pop(address, None)  # the cached keys may be wrong
            if not was_cached or not isinstance(error, UnknownKey):
                raise
            return check_id_token(token, self._document(address), expected)

    def _userinfo_claims(
        self, metadata: dict[str, Any], token: dict[str, Any], claims: dict[str, Any]
    ) -> dict[str, Any]:
        """The claims that the ID token lacks, if the userinfo endpoint has them (OpenID Connect
        Core 1.0, section 5.4)."""
        address = self._settings.oidc_email_claim
        wanted = {address, "name", *(["email_verified"] if address == "email" else [])}
        missing = {name for name in wanted if claims.get(name) is None}
        if not missing or _USERINFO not in metadata:
            return {}
        headers = {"Authorization": f"Bearer {token.get('access_token')}"}
        try:
            more = self._request("GET", metadata[_USERINFO], headers)
            if more.get("sub") != claims["sub"]:  # section 5.3.2
                raise ProviderFailed("the userinfo endpoint tells of somebody else")
        except ProviderFailed:
            if missing == {"name"}:  # which people can type
                return {}
            raise
        # Whether an address was verified says nothing about that of the other document.
        if address in missing:
            claims.pop("email_verified", None)
        elif more.get(address) != claims[address]:
            more.pop("email_verified", None)
        return {name: value for name, value in more.items() if claims.get(name) is None}

    def _check_issuer(self, metadata: dict[str, Any], issuer: str | None) -> None:
        """Raise ProviderFailed if another provider has sent the browser (RFC 9207)."""
        is_promised = metadata.get("authorization_response_iss_parameter_supported") is True
        if issuer != self._issuer and (is_promised or issuer is not None):
            raise ProviderFailed("another issuer has sent the browser back")

    def _document(self, address: str) -> dict[str, Any]:
        cached = self._documents.get(address)
        if cached is not None and time.monotonic() < cached.until:
            return cached.content
        content = self._request("GET", address, {})
        self._documents[address] = _Document(content, time.monotonic() + DOCUMENTS_LIFE)
        return content

    def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> dict[str, Any]:
        """The JSON object in a response. Raises ProviderFailed."""
        attempt = Attempt(Deadline(REQUEST_SECONDS))
        try:
            with self._egress.request(
                method, url, {**_HEADERS, **headers}, body, attempt=attempt
            ) as response:
                content = _json_object(response.read(RESPONSE_BYTES))
        except TooLong:
            raise ProviderFailed("a response is too long") from None
        except (EgressError, ValueError) as error:  # or a header that cannot be sent
            raise ProviderFailed(str(error)) from None
        if content is not None and "error" in content:  # such as invalid_grant
            raise ProviderFailed(f"the provider answers {str(content['error'])[:100]!r}")
        if response.status != 200:
            raise ProviderFailed(f"a response has the status {response.status}")
        if content is None:
            raise ProviderFailed("a response is no JSON object")
        return content

    def _is_endpoint(self, address: Any) -> bool:
        """True if an address is as safe as the issuer: https, or its host and scheme."""
        if not isinstance(address, str):
            return False
        try:
            target, own = (parse_target(url, may_be_http=True) for url in (address, self._issuer))
        except ValueError:
            return False
        return target.is_secure or (not own.is_secure and target.host == own.host)

    @contextmanager
    def _provider_slot(self) -> Iterator[None]:
        """Limit the threads that wait for the provider. Raises ProviderFailed if all are taken."""
        if not self._slots.acquire(blocking=False):
            raise ProviderFailed("too many sign-ins wait for the provider")
        try:
            yield
        finally:
            self._slots.release()


def _json_object(body: bytes) -> dict[str, Any] | None:
    try:
        content = loads(body)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
