"""What comes to the OAuth server and what goes from it, without a framework."""

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

# Where Authlib would tell back what was sent, whatever characters that has.
_OWN_WORDS: Final = {
    UnsupportedGrantTypeError: "grant_type must be authorization_code or refresh_token.",
    UnsupportedResponseTypeError: "response_type must be code.",
}


class OAuthRequest(OAuth2Request):  # type: ignore[misc]
    """A request as Authlib knows it: its parameters have been read, and each comes once."""

    # Authlib raises for http, and whoever serves this by http is told so elsewhere.
    _URI: Final = "https://localhost/"

    def __init__(self, method: str, values: dict[str, str], authorization: str | None = None):
        super().__init__(method, self._URI, headers={"Authorization": authorization})
        self.payload = BasicOAuth2Payload(values)

    @property
    def form(self) -> dict[str, str]:
        values: dict[str, str] = self.payload.data
        return values

    @property
    def has_proof(self) -> bool:
        """Whether the client has proved with a secret who it is."""
        return self.auth_method in (BASIC, POST)


class Answer(NamedTuple):
    """What a client is told: a status, the members of a JSON object, and headers besides."""

    status: int
    body: Mapping[str, Any]
    headers: dict[str, str]


def refusal(error: OAuth2Error) -> Answer:
    """The answer that tells of an error (RFC 6749, section 5.2)."""
    headers = {"WWW-Authenticate": 'Basic realm="canopy"'} if error.status_code == 401 else {}
    return Answer(error.status_code, described(error), headers)


def described(error: OAuth2Error) -> dict[str, str]:
    """``error`` and ``error_description``, if there is one."""
    told = _OWN_WORDS.get(type(error)) or error.get_error_description()
    return {"error": error.error} | ({"error_description": told} if told else {})
