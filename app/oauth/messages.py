"""Requests and responses of the OAuth server, independent of the web framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import (
    OAuth2Request,
    UnsupportedGrantTypeError,
    UnsupportedResponseTypeError,
)
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload

from app.oauth.clients import BASIC, POST

# For errors in which Authlib would echo what was sent, unescaped.
_ERROR_MESSAGES: Final = {
    UnsupportedGrantTypeError: "grant_type must be authorization_code or refresh_token.",
    UnsupportedResponseTypeError: "response_type must be code.",
}


class OAuthRequest(OAuth2Request):  # type: ignore[misc]
    """A request as Authlib expects it, with parsed parameters."""

    _URI: Final = "https://localhost/"  # Authlib rejects http, which local instances use

    def __init__(self, method: str, values: dict[str, str], authorization: str | None = None):
        super().__init__(method, self._URI, headers={"Authorization": authorization})
        self.payload = BasicOAuth2Payload(values)

    @property
    def form(self) -> dict[str, str]:
        values: dict[str, str] = self.payload.data
        return values

    @property
    def is_authenticated(self) -> bool:
        """Whether the client authenticated with its secret."""
        return self.auth_method in (BASIC, POST)


class OAuthResponse(NamedTuple):
    """A response: status, members of the JSON body, and additional headers."""

    status: int
    body: Mapping[str, Any]
    headers: dict[str, str]


def error_response(error: OAuth2Error) -> OAuthResponse:
    """The response for an error (RFC 6749, section 5.2)."""
    headers = {"WWW-Authenticate": 'Basic realm="canopy"'} if error.status_code == 401 else {}
    return OAuthResponse(error.status_code, error_fields(error), headers)


def error_fields(error: OAuth2Error) -> dict[str, str]:
    """``error``, and ``error_description`` if there is one."""
    description = _ERROR_MESSAGES.get(type(error)) or error.get_error_description()
    return {"error": error.error} | ({"error_description": description} if description else {})
