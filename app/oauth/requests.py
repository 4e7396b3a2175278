"""Parsing and validating authorization requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidRequestError, UnsupportedResponseTypeError
from authlib.oauth2.rfc9101.errors import RequestNotSupportedError, RequestUriNotSupportedError

from app.http.errors import BadRequest
from app.oauth.clients import Client, find_client
from app.oauth.messages import OAuthRequest, error_fields
from app.oauth.parameters import Parameters, read_parameters
from app.oauth.redirect_uris import with_parameters
from app.oauth.server import server
from app.policy.oauth import ACCESS_TOKEN_LIFE, AUTHORIZATION_LIFE, OFFLINE_ACCESS
from app.policy.oauth_errors import Description
from app.settings.current import current_settings

_PROMPTS: Final = frozenset({"none", "login", "consent", "select_account"})


class CannotRedirect(BadRequest):
    """An authorization request with an unknown client or redirect URI: nobody is redirected."""


class RedirectWithError(Exception):
    """An authorization request that failed. The browser is redirected to the client.

    Attributes:
        client, redirect_uri: the client.
        description: the ``error_description``.
        url: the redirect URI with the error.
    """

    def __init__(
        self, client: Client, redirect_uri: str, fields: Mapping[str, str], state: str | None
    ) -> None:
        super().__init__(fields["error"])
        self.client, self.redirect_uri = client, redirect_uri
        self.description = fields["error_description"]
        self.url = client_redirect(redirect_uri, fields, state)


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A valid authorization request."""

    client: Client
    redirect_uri: str
    scopes: tuple[str, ...]
    state: str | None
    code_challenge: str | None
    prompts: frozenset[str]

    @property
    def requires_prompt(self) -> bool:
        """True if the person must be asked even if they have consented before."""
        return bool(self.prompts - {"none"})

    @property
    def is_silent(self) -> bool:
        """True if the person must not be asked anything."""
        return "none" in self.prompts

    @property
    def life(self) -> timedelta:
        """The maximum duration of the application's access."""
        return AUTHORIZATION_LIFE if OFFLINE_ACCESS in self.scopes else ACCESS_TOKEN_LIFE


def read_request(query: bytes) -> AuthorizationRequest:
    """Parse and validate the authorization request in a query string.

    Raises:
        CannotRedirect: the application or the redirect URI is unknown, or the query is malformed.
        RedirectWithError: anything else is wrong.
    """
    try:
        parameters = read_parameters(query)
    except OAuth2Error as error:
        raise CannotRedirect(f"The request cannot be read: {error.description}") from None
    client, redirect_uri = _client_and_redirect_uri(parameters)
    values = parameters.values
    state = None if "state" in parameters.repeated else values.get("state")
    try:
        scopes = _requested_scopes(parameters)
        prompts = _parse_prompts(values.get("prompt", ""))
    except OAuth2Error as error:
        raise RedirectWithError(client, redirect_uri, error_fields(error), state) from None
    challenge = values.get("code_challenge")
    return AuthorizationRequest(client, redirect_uri, scopes, state, challenge, prompts)


def client_redirect(redirect_uri: str, response: Mapping[str, str], state: str | None) -> str:
    """The redirect URI with the response parameters, the state and the issuer (RFC 9207)."""
    echoed = {} if state is None else {"state": state}
    return with_parameters(redirect_uri, {**response, **echoed, "iss": issuer_identifier()})


def issuer_identifier() -> str:
    """The issuer identifier of this server (RFC 8414, section 2)."""
    return current_settings().public_url


def _client_and_redirect_uri(parameters: Parameters) -> tuple[Client, str]:
    """Return the application and its redirect URI.

    Raises:
        CannotRedirect: the application is unknown, or has not registered the URI.
    """
    values, repeated = parameters
    client = find_client(values.get("client_id", ""))
    if client is None or "client_id" in repeated:
        raise CannotRedirect("Send one client_id, of a registered application.")
    if "redirect_uri" in repeated:
        raise CannotRedirect("Send one redirect_uri.")
    redirect_uri = values.get("redirect_uri", "")
    if not client.check_redirect_uri(redirect_uri):
        if client.check_redirect_uri(redirect_uri.replace(":0", "", 1)):
            raise CannotRedirect(
                "No program can listen on the port 0 of this redirect_uri. QGIS and QField send it "
                "after a sign-in that failed: restart the program, and sign in again."
            )
        raise CannotRedirect(
            "The application has not registered this redirect_uri. It must match exactly."
        )
    return client, redirect_uri


def _requested_scopes(parameters: Parameters) -> tuple[str, ...]:
    """Return the scopes of a request. Raises OAuth2Error if the request is invalid."""
    values, repeated = parameters
    if repeated:
        raise InvalidRequestError(Description.REPEATED)
    if "request" in values:
        raise RequestNotSupportedError(Description.REQUEST)
    if "request_uri" in values:
        raise RequestUriNotSupportedError(Description.REQUEST_URI)
    if "response_type" not in values:
        raise InvalidRequestError(Description.RESPONSE_TYPE)
    if values["response_type"] != "code":  # Authlib would echo it, unescaped
        raise UnsupportedResponseTypeError("")
    if values.get("response_mode", "query") != "query":
        raise InvalidRequestError(Description.RESPONSE_MODE)
    oauth_request = OAuthRequest("GET", values)
    server.get_consent_grant(oauth_request)
    return tuple(oauth_request.scope.split(" "))


def _parse_prompts(text: str) -> frozenset[str]:
    """Parse the values of ``prompt``. Unknown ones are ignored."""
    prompts = _PROMPTS & set(text.split(" "))
    if "none" in prompts and len(prompts) > 1:
        raise InvalidRequestError(Description.PROMPT)
    return prompts
