"""The OpenID Connect provider: its metadata, its keys, and the exchange of a code.

Importing httpx2 takes a quarter of a second: ``create_app`` imports this module, and only where a
provider is set.
"""

from __future__ import annotations

import base64
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote_plus, urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from flask import Flask
from werkzeug.urls import iri_to_uri

from app.people.single_sign_on.id_token import Expected, UnknownKey, check_id_token
from app.people.single_sign_on.interface import (
    EXTENSION,
    ProviderFailed,
    ProviderIdentity,
    RequestSecrets,
)
from app.people.single_sign_on.transport import LimitedTransport
from app.policy.single_sign_on import DOCUMENTS_LIFE, REQUEST_SECONDS, SCOPES
from app.values.strict_json import loads
from app.values.version import VERSION
from config import Settings

CALLBACK: Final = "/login/single-sign-on/callback"
_DISCOVERY: Final = "/.well-known/openid-configuration"
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_USERINFO: Final = "userinfo_endpoint"
_AUTH_METHODS: Final = "token_endpoint_auth_methods_supported"

# What a response can make of a request, that of JSON in brackets without end included.
_FAILURES: Final = (
    httpx2.HTTPError, httpx2.InvalidURL, ValueError, TypeError, KeyError, OverflowError,
    RecursionError,
)  # fmt: skip

_Result = TypeVar("_Result")


def init_app(app: Flask) -> None:
    """Give ``app`` the provider of its settings; half of the threads may wait for it."""
    settings: Settings = app.config["SETTINGS"]
    for name in ("httpx2", "httpcore2"):  # they would log URLs, which have codes
        logging.getLogger(name).setLevel(logging.WARNING)
    app.extensions[EXTENSION] = OpenIDProvider(settings)


class _Document(NamedTuple):
    """Something that the provider publishes, and until when it is kept."""

    content: dict[str, Any]
    until: float  # on the monotonic clock


class OpenIDProvider:
    """The provider of ``OIDC_ISSUER``. One for a process; threads share it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._issuer = settings.oidc_issuer or ""
        self._client_id = settings.oidc_client_id or ""
        self._transport = LimitedTransport()
        self._documents: dict[str, _Document] = {}
        self._slots = threading.BoundedSemaphore(max(1, settings.web_threads // 2))

    def authorization_url(self, sent: RequestSecrets) -> str:
        """Where to send a browser. Raises ProviderFailed."""
        with self._slot():
            metadata = self.metadata()
        with self._client(metadata) as client:
            url, _ = client.create_authorization_url(
                metadata["authorization_endpoint"],
                state=sent.state,
                nonce=sent.nonce,
                code_verifier=sent.verifier,
            )
        return str(url)

    def identify(self, code: str, issuer: str | None, sent: RequestSecrets) -> ProviderIdentity:
        """Who came back with a code. Raises ProviderFailed."""
        with self._slot():
            metadata = self.metadata()
            self._check_issuer(metadata, issuer)
            with self._client(metadata) as client:
                token = _attempt(
                    lambda: client.fetch_token(
                        metadata["token_endpoint"],
                        grant_type="authorization_code",
                        code=code,
                        code_verifier=sent.verifier,
                        redirect_uri=self._redirect_uri,
                    )
                )
                claims = self._claims(metadata, token, sent)
                claims |= self._userinfo_claims(client, metadata, claims)
        return ProviderIdentity(claims["sub"], claims)

    def metadata(self) -> dict[str, Any]:
        """What the provider says of itself (OpenID Connect Discovery 1.0).

        Raises:
            ProviderFailed: it cannot be read, or is not that of the issuer.
        """
        address = self._issuer.rstrip("/") + _DISCOVERY
        found = self._document(address)
        try:
            self._check_metadata(found)
        except ProviderFailed:
            self._documents.pop(address, None)  # it may be right the next time
            raise
        return found

    def _check_metadata(self, found: dict[str, Any]) -> None:
        if found.get("issuer") != self._issuer:
            raise ProviderFailed(f"the provider calls itself {str(found.get('issuer'))[:200]!r}")
        for name in (*_ENDPOINTS, _USERINFO):
            if not self._is_endpoint(found.get(name)) and (name in found or name != _USERINFO):
                raise ProviderFailed(f"its {name} is no https address")
        if not isinstance(found.get(_AUTH_METHODS) or [], list):
            raise ProviderFailed(f"its {_AUTH_METHODS} is no list")

    def check(self) -> None:
        """Read what the provider publishes. Raises ProviderFailed."""
        self._document(self.metadata()["jwks_uri"])

    @property
    def _redirect_uri(self) -> str:
        return self._settings.public_url + CALLBACK

    def _claims(self, metadata: dict[str, Any], token: Any, sent: RequestSecrets) -> dict[str, Any]:
        """The claims of the ID token. Keys that were kept are read again if none of them fits."""
        expected = Expected(self._issuer, self._client_id, sent.nonce)
        address = metadata["jwks_uri"]
        was_kept = address in self._documents
        try:
            return check_id_token(token, self._document(address), expected)
        except ProviderFailed as error:
            self._documents.pop(address, None)  # the keys may be what is wrong
            if not was_kept or not isinstance(error, UnknownKey):
                raise
            return check_id_token(token, self._document(address), expected)

    def _userinfo_claims(
        self, client: OAuth2Client, metadata: dict[str, Any], claims: dict[str, Any]
    ) -> dict[str, Any]:
        """The claims of the userinfo endpoint, if the ID token has no address."""
        if self._settings.oidc_email_claim in claims or _USERINFO not in metadata:
            return {}
        more = _attempt(lambda: _read(client.get(metadata[_USERINFO])))
        if more.get("sub") != claims["sub"]:  # OpenID Connect Core 1.0, section 5.3.2
            raise ProviderFailed("the userinfo endpoint tells of somebody else")
        claims.pop("email_verified", None)  # it said nothing about an address of another document
        return {name: value for name, value in more.items() if name not in claims}

    def _check_issuer(self, metadata: dict[str, Any], issuer: str | None) -> None:
        """Refuse what another provider has sent (RFC 9207)."""
        is_promised = metadata.get("authorization_response_iss_parameter_supported") is True
        if issuer != self._issuer and (is_promised or issuer is not None):
            raise ProviderFailed("another issuer has sent the browser back")

    def _document(self, address: str) -> dict[str, Any]:
        kept = self._documents.get(address)
        if kept is not None and time.monotonic() < kept.until:
            return kept.content
        with self._http() as http:
            content = _attempt(lambda: _read(http.get(address)))
        self._documents[address] = _Document(content, time.monotonic() + DOCUMENTS_LIFE)
        return content

    def _client(self, metadata: dict[str, Any]) -> OAuth2Client:
        methods = metadata.get(_AUTH_METHODS) or ["client_secret_basic"]
        basic = "client_secret_basic" in methods
        client = OAuth2Client(
            self._client_id,
            self._settings.oidc_client_secret,
            token_endpoint_auth_method="client_secret_basic" if basic else "client_secret_post",
            scope=SCOPES,
            redirect_uri=self._redirect_uri,
            code_challenge_method="S256",
            **self._options(),
        )
        client.register_client_auth_method(("client_secret_basic", _encode_basic))
        return client

    def _http(self) -> httpx2.Client:
        return httpx2.Client(**self._options())

    def _options(self) -> dict[str, Any]:
        return {
            "transport": self._transport,
            "trust_env": False,
            "follow_redirects": False,
            "timeout": REQUEST_SECONDS,
            "headers": {"User-Agent": f"Canopy/{VERSION}"},
        }

    def _is_endpoint(self, address: Any) -> bool:
        """Whether it is as safe as the issuer: https, or on this machine as the issuer is."""
        if not isinstance(address, str):
            return False
        try:
            httpx2.URL(address)  # requests
            parts, own = (urlsplit(iri_to_uri(url)) for url in (address, self._issuer))  # redirects
        except (httpx2.InvalidURL, ValueError):
            return False
        is_own = (parts.scheme, parts.hostname) == (own.scheme, own.hostname)
        return bool(parts.hostname) and (parts.scheme == "https" or is_own)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """Leave threads for others, however slow the provider is. Raises ProviderFailed."""
        if not self._slots.acquire(blocking=False):
            raise ProviderFailed("too many sign-ins wait for the provider")
        try:
            yield
        finally:
            self._slots.release()


def _attempt(request: Callable[[], _Result]) -> _Result:
    """The result of a request. Raises ProviderFailed."""
    try:
        return request()
    except AuthlibBaseError as error:  # such as invalid_grant
        raise ProviderFailed(f"the provider answers {str(error.error)[:100]!r}") from None
    except _FAILURES as error:
        reason = str(error).partition("\n")[0][:200]
        raise ProviderFailed(f"{type(error).__name__} {reason}") from None


def _read(response: httpx2.Response) -> dict[str, Any]:
    """The object in a response. Raises ValueError."""
    if response.status_code != 200:
        raise ValueError(f"status {response.status_code}")
    content = loads(response.content)
    if not isinstance(content, dict):
        raise ValueError("no JSON object")
    return content


def _encode_basic(client: Any, _: str, uri: str, headers: Any, body: str) -> Any:
    """Authenticate as RFC 6749, section 2.3.1 says: both parts are encoded before they are joined,
    which Authlib leaves out."""
    pair = f"{quote_plus(client.client_id)}:{quote_plus(client.client_secret)}"
    headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return uri, headers, body
