"""The two grants: authorization code and refresh token."""

from __future__ import annotations

import re
from typing import Any, Final

from authlib.oauth2.rfc6749 import (
    AuthorizationCodeMixin,
    InvalidGrantError,
    InvalidRequestError,
    InvalidScopeError,
    TokenMixin,
    scope_to_list,
)
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc7636 import CodeChallenge

from app.oauth import issuing
from app.oauth.authorizations import claim_code, find_code, revoke_family, write_token_entry
from app.oauth.clients import BASIC, NONE, POST, Client
from app.policy.oauth_errors import Description
from app.values import clock

ANY_CLIENT: Final = [BASIC, POST, NONE]
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")  # a SHA-256 in base64url


class Code(AuthorizationCodeMixin):  # type: ignore[misc]
    """An authorization looked up by its code, as Authlib expects it."""

    code_challenge_method = "S256"

    def __init__(self, row: Any) -> None:
        self.row = row
        self.code_challenge = row.code_challenge

    def get_redirect_uri(self) -> str:
        return self.row.redirect_uri  # type: ignore[no-any-return]


class Token(TokenMixin):  # type: ignore[misc]
    """An access token or refresh token, as Authlib expects it."""

    def __init__(self, row: Any) -> None:
        self.row = row

    def check_client(self, client: Client) -> bool:
        return self.row.application_id == client.id  # type: ignore[no-any-return]

    def get_scope(self) -> str:
        return " ".join(self.row.scopes)

    def is_expired(self) -> bool:
        return min(self.row.expires_at, self.row.family_ends_at) <= clock.now()  # type: ignore[no-any-return]

    def is_revoked(self) -> bool:
        row = self.row
        # Access tokens work until they end.
        used_at = row.used_at if row.kind == "refresh" else None
        return any(time is not None for time in (row.revoked_at, row.family_revoked_at, used_at))


class CodeGrant(AuthorizationCodeGrant):  # type: ignore[misc]
    """Exchanges a code for tokens."""

    TOKEN_ENDPOINT_AUTH_METHODS = ANY_CLIENT

    def query_authorization_code(self, code: str, client: Client) -> Code | None:
        """The code, or None unless it was issued to this client and has not been used.

        A second use means that the code was stolen, and perhaps its tokens: the family is revoked.
        A wrong redirect URI or verifier does not use the code up: anybody can pretend to be a
        public client, and must not be able to invalidate the code of the real one.
        """
        row = find_code(code)
        if row is None or row.application_id != client.id:
            return None
        if row.code_used_at is not None:
            _revoke_reused(row, client)
            return None
        return Code(row) if row.code_expires_at > clock.now() else None

    def create_token_response(self) -> tuple[int, dict[str, Any], list[Any]]:
        row = self.request.authorization_code.row
        family = claim_code(row)
        if family is None or family.code_used_at is None:
            _revoke_reused(row, self.request.client)
            raise InvalidGrantError(Description.CODE)
        return 200, issuing.issue_tokens(family, family.scopes, family.code_used_at), []


def _revoke_reused(row: Any, client: Client) -> None:
    """Revoke all tokens that were issued from a code."""
    if revoke_family(row.account_id, row.id):
        write_token_entry("application.token_reused", row, client)


class Pkce(CodeChallenge):  # type: ignore[misc]
    """PKCE with S256 only, mandatory for public clients."""

    def validate_code_challenge(self, grant: CodeGrant, redirect_uri: str) -> None:
        values = grant.request.payload.data
        challenge, method = values.get("code_challenge"), values.get("code_challenge_method")
        if challenge is None and method is None and not grant.request.client.is_public:
            return
        if challenge is None or not _CHALLENGE.fullmatch(challenge):
            raise InvalidRequestError(Description.CHALLENGE)
        if method != "S256":
            raise InvalidRequestError(Description.CHALLENGE_METHOD)


class RefreshGrant(RefreshTokenGrant):  # type: ignore[misc]
    """Exchanges a refresh token for new tokens."""

    TOKEN_ENDPOINT_AUTH_METHODS = ANY_CLIENT

    def authenticate_refresh_token(self, refresh_token: str) -> Token | None:
        row = issuing.find_token(refresh_token)
        return Token(row) if row is not None and row.kind == "refresh" else None

    def validate_token_request(self) -> None:
        """Validate as Authlib does, and give a reason when the token or the scope is wrong."""
        try:
            super().validate_token_request()
        except InvalidGrantError:
            raise issuing.invalid_refresh_token() from None
        except InvalidScopeError:
            raise InvalidScopeError(Description.SCOPE_NOT_GRANTED) from None

    def create_token_response(self) -> tuple[int, dict[str, Any], list[Any]]:
        row, scope = self.request.refresh_token.row, self.request.payload.scope
        requested = row.scopes if scope is None else scope_to_list(scope)
        scopes = [name for name in row.scopes if name in requested]
        if not scopes:
            raise InvalidScopeError(Description.SCOPE_NOT_GRANTED)
        return 200, issuing.rotate_refresh_token(row, self.request.client, scopes), []
