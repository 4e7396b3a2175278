"""The descriptions of the OAuth server's errors, with advice.

RFC 6749 allows printable ASCII in them, without quotes and backslashes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from app.policy.oauth import FORM_BYTES, PARAMETER_LENGTH, PARAMETERS

_AGAIN: Final = "Send the person to /oauth/authorize again."
_CHALLENGE: Final = "the SHA-256 of the code_verifier in base64url, of 43 characters"


class Description(StrEnum):
    """The descriptions, by cause."""

    # Of requests to the endpoints.
    FORM = "Send the parameters as application/x-www-form-urlencoded."
    QUERY = "Send the parameters in the body, not in the URL."
    ENCODING = f"Send at most {PARAMETERS} parameters, encoded as UTF-8."
    LENGTH = f"Send parameters of at most {PARAMETER_LENGTH:,} characters, without NUL."
    REPEATED = "Send each parameter only once."
    INCOMPLETE = "The body is malformed or incomplete. Send it again."
    TOO_LARGE = f"Send a body of at most {FORM_BYTES // 1024} KB."
    METHOD = "Use one of the methods in the Allow header."
    CREDENTIALS_DIFFER = (
        "The client_id or client_secret in the form is not that of the Authorization header. "
        "Send them in one of both."
    )
    CLIENT = "The client_id is unknown, or the client_secret is wrong or missing. Check both."
    PUBLIC_CLIENT = "This endpoint requires a client_secret, which public applications do not have."
    GRANT_TYPE = "Send grant_type=authorization_code or grant_type=refresh_token."
    CODE_MISSING = "code is missing. Send the code from the redirect."
    CODE = f"The code is unknown, expired, used before, or of another application. {_AGAIN}"
    REDIRECT_URI = (
        "redirect_uri differs from the one in the authorization request. Send the same one."
    )
    VERIFIER_MISSING = "code_verifier is missing. Send the one the code_challenge was made from."
    VERIFIER = "Send a code_verifier of 43 to 128 letters, digits and the characters - . _ ~"
    VERIFIER_WRONG = "code_verifier does not match the code_challenge. Send the right one."
    VERIFIER_UNEXPECTED = (
        "The authorization request had no code_challenge. Send one there, or no code_verifier here."
    )
    REFRESH_MISSING = "refresh_token is missing. Send the one from the last token response."
    REFRESH = (
        "The refresh token is unknown, expired, revoked, used before, or of another application. "
        + _AGAIN
    )
    SCOPE_NOT_GRANTED = "scope may only name scopes that were granted. Leave it out for all."
    SUBJECT_MISSING = "token is missing. Send an access token or a refresh token."
    OTHER_CLIENT = "The token belongs to another application, which has to revoke it itself."
    UNAVAILABLE = "The database cannot be reached at the moment. Send the request again later."
    FAULT = (
        "Something went wrong on our side. The error has been logged. Send the request again later."
    )
    # Of authorization requests, in redirects.
    RESPONSE_TYPE = "Send response_type=code."
    REQUEST = "Send the parameters themselves: request is not supported."
    REQUEST_URI = "Send the parameters themselves: request_uri is not supported."
    RESPONSE_MODE = "Send response_mode=query, or leave it out."
    PROMPT = "Send prompt=none without other values."
    CHALLENGE = f"Send a code_challenge: {_CHALLENGE}."
    CHALLENGE_METHOD = "Send code_challenge_method=S256."
    SCOPE = "Send one or more scopes that the application has registered, separated by spaces."
    DENIED = "The person denied access. Ask again only when they want it."
    LOGIN_REQUIRED = "Nobody is signed in. Send the person again, without prompt=none."
    CONSENT_REQUIRED = "The person has to give consent. Send them again, without prompt=none."
