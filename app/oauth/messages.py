"""Requests and responses of the OAuth server, independent of the web framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import OAuth2Request
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload

from app.oauth.clients import BASIC, POST
from app.policy.oauth_errors import Description

# Replace Authlib's descriptions, which name a parameter, echo the request, or are missing.
_INSTEAD: Final = {
    ("unsupported_grant_type", ""): Description.GRANT_TYPE,
    ("unsupported_response_type", ""): Description.RESPONSE_TYPE,
    ("invalid_scope", "The requested scope is invalid, unknown, or malformed."): Description.SCOPE,
    ("invalid_request", "Missing 'code' in request."): Description.CODE_MISSING,
    ("invalid_grant", "Invalid 'code' in request."): Description.CODE,
    ("invalid_grant", "Invalid 'redirect_uri' in request."): Description.REDIRECT_URI,
    ("invalid_request", "Missing 'code_verifier'"): Description.VERIFIER_MISSING,
    ("invalid_request", "Invalid 'code_verifier'"): Description.VERIFIER,
    ("invalid_grant", "Code challenge failed."): Description.VERIFIER_WRONG,
    (
        "invalid_request",
        "The authorization request had no 'code_challenge', but a 'code_verifier' was provided.",
    ): Description.VERIFIER_UNEXPECTED,
    ("invalid_request", "Missing 'refresh_token' in request."): Description.REFRESH_MISSING,
}
# Keyed by the status of an error: its code, and its description if that is always the same.
_OF_STATUS: Final = {
    405: ("invalid_request", Description.METHOD),
    413: ("invalid_request", Description.TOO_LARGE),
    429: ("temporarily_unavailable", None),
    500: ("server_error", Description.FAULT),
    503: ("temporarily_unavailable", Description.UNAVAILABLE),
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
        """True if the client authenticated with its secret."""
        return self.auth_method in (BASIC, POST)


class OAuthResponse(NamedTuple):
    """A response: status, members of the JSON body, and additional headers."""

    status: int
    body: Mapping[str, Any]
    headers: dict[str, str]


def error_response(error: OAuth2Error) -> OAuthResponse:
    """Build the response for an error (RFC 6749, section 5.2)."""
    headers = {"WWW-Authenticate": 'Basic realm="canopy"'} if error.status_code == 401 else {}
    return OAuthResponse(error.status_code, error_fields(error), headers)


def error_fields(error: OAuth2Error) -> dict[str, str]:
    """The ``error`` and ``error_description`` of an error."""
    return {"error": error.error, "error_description": describe_error(error)}


def status_fields(status: int, message: str) -> dict[str, str]:
    """The ``error`` and ``error_description`` of a response with this status."""
    code, description = _OF_STATUS.get(status, ("invalid_request", Description.INCOMPLETE))
    return {"error": code, "error_description": description or message}


def describe_error(error: OAuth2Error) -> str:
    """The description of an error that Authlib or this package raised."""
    text = error.description or ""
    return _INSTEAD.get((error.error, text)) or text or Description.FAULT
