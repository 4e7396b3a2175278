"""Authorization requests: read from an address, and judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidRequestError, UnsupportedResponseTypeError
from flask import current_app

from app.http.errors import BadRequest
from app.oauth.clients import Client, find_client
from app.oauth.messages import OAuthRequest, described
from app.oauth.parameters import Parameters, read_parameters
from app.oauth.redirect_uris import with_parameters
from app.oauth.server import server
from app.policy.oauth import ACCESS_TOKEN_LIFE, AUTHORIZATION_LIFE, OFFLINE_ACCESS

UNKNOWN: Final = "There is no application with this client_id."
_PROMPTS: Final = frozenset({"none", "login", "consent", "select_account"})


class CannotRedirect(BadRequest):
    """An authorization request that may be anybody's, so that nobody is sent anywhere by it."""


class RedirectWithError(Exception):
    """An authorization request that is answered by sending the person back, with an error.

    Attributes:
        url: where to.
    """

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """What an application asks for; all of it is valid."""

    client: Client
    redirect_uri: str
    scopes: tuple[str, ...]
    state: str | None
    code_challenge: str | None
    prompts: frozenset[str]

    @property
    def asks_anew(self) -> bool:
        """Whether the person shall be asked whatever is remembered."""
        return bool(self.prompts - {"none"})

    @property
    def is_silent(self) -> bool:
        """Whether the person must not be asked anything."""
        return "none" in self.prompts

    @property
    def life(self) -> timedelta:
        """How long the application has access at most."""
        return AUTHORIZATION_LIFE if OFFLINE_ACCESS in self.scopes else ACCESS_TOKEN_LIFE


def read_request(query: bytes) -> AuthorizationRequest:
    """The authorization request in the query of an address.

    Raises:
        CannotRedirect: the application or the redirect URI is unknown, or nothing can be read.
        RedirectWithError: anything else is wrong, which the application is told.
    """
    try:
        parameters = read_parameters(query)
    except OAuth2Error as error:
        raise CannotRedirect(f"The request cannot be read: {error.description}") from None
    client, redirect_uri = _sender(parameters)
    values = parameters.values
    state = None if "state" in parameters.repeated else values.get("state")
    try:
        scopes = _scopes(parameters)
        prompts = _prompts(values.get("prompt", ""))
    except OAuth2Error as error:
        raise RedirectWithError(client_redirect(redirect_uri, described(error), state)) from None
    challenge = values.get("code_challenge")
    return AuthorizationRequest(client, redirect_uri, scopes, state, challenge, prompts)


def client_redirect(redirect_uri: str, answer: Mapping[str, str], state: str | None) -> str:
    """The redirect URI with an answer, the state as it came, and who answers (RFC 9207)."""
    echoed = {} if state is None else {"state": state}
    return with_parameters(redirect_uri, {**answer, **echoed, "iss": issuer()})


def issuer() -> str:
    """What the server calls itself (RFC 8414, section 2)."""
    return current_app.config["SETTINGS"].public_url  # type: ignore[no-any-return]


def _sender(parameters: Parameters) -> tuple[Client, str]:
    """The application that asks, and where it wants the person sent back to.

    Raises:
        CannotRedirect: it is unknown, or has not registered that.
    """
    values, repeated = parameters
    client = find_client(values.get("client_id", ""))
    if client is None or "client_id" in repeated:
        raise CannotRedirect(UNKNOWN)
    redirect_uri = values.get("redirect_uri", "")
    if not client.check_redirect_uri(redirect_uri) or "redirect_uri" in repeated:
        raise CannotRedirect(
            "The application has not registered this redirect_uri; they must be equal to the "
            "letter."
        )
    return client, redirect_uri


def _scopes(parameters: Parameters) -> tuple[str, ...]:
    """The scopes of a request that is valid. Raises OAuth2Error for any other."""
    values, repeated = parameters
    if repeated:
        raise InvalidRequestError("A parameter is repeated.")
    if "response_type" not in values:
        raise InvalidRequestError("response_type is missing.")
    if values["response_type"] != "code":  # Authlib would tell it back, whatever it is
        raise UnsupportedResponseTypeError("")
    if values.get("response_mode", "query") != "query":
        raise InvalidRequestError("response_mode can only be query.")
    asked = OAuthRequest("GET", values)
    server.get_consent_grant(asked)
    return tuple(asked.scope.split(" "))


def _prompts(text: str) -> frozenset[str]:
    """The words of ``prompt``; those that are not known mean nothing."""
    prompts = _PROMPTS & set(text.split(" "))
    if "none" in prompts and len(prompts) > 1:
        raise InvalidRequestError("prompt can be none only by itself.")
    return prompts
