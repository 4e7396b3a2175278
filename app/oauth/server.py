"""The OAuth 2.0 server: Authlib validates requests, this package stores codes and tokens.

Authlib checks the parameters of the grants and PKCE. Three things are not left to it: codes and
refresh tokens are claimed before tokens are issued (``authorizations``, ``issuing``), while Authlib
would save the new tokens first; clients are authenticated by ``clients``; and redirect URIs are
compared and extended as text (``redirect_uris``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from authlib.oauth2 import AuthorizationServer, OAuth2Error
from authlib.oauth2.rfc6749 import InvalidClientError, InvalidGrantError, InvalidRequestError
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7662 import IntrospectionEndpoint

from app.oauth import issuing
from app.oauth.authorizations import write_token_entry
from app.oauth.clients import BASIC, POST, Client, authenticate_client, find_client
from app.oauth.grants import ANY_CLIENT, CodeGrant, Pkce, RefreshGrant, Token
from app.oauth.messages import OAuthRequest, OAuthResponse, error_response
from app.policy.oauth_errors import Description
from app.policy.permissions import SCOPES


class _TokenParameters:
    """The parameters of an endpoint about one token, whose prefix tells its kind: hints are
    ignored."""

    def check_params(self, request: OAuthRequest, client: Client) -> None:
        if "token" not in request.form:
            raise InvalidRequestError(Description.SUBJECT_MISSING)

    def query_token(self, token: str, hint: str | None) -> Token | None:
        row = issuing.find_token(token)
        return None if row is None else Token(row)


class Revocation(_TokenParameters, RevocationEndpoint):  # type: ignore[misc]
    """Token revocation (RFC 7009)."""

    CLIENT_AUTH_METHODS = ANY_CLIENT

    def authenticate_token(self, request: OAuthRequest, client: Client) -> Token | None:
        """Authenticate as Authlib does, and give a reason if the token is of another client."""
        try:
            result: Token | None = super().authenticate_token(request, client)
        except InvalidGrantError:
            raise InvalidGrantError(Description.OTHER_CLIENT) from None
        return result

    def revoke_token(self, token: Token, request: OAuthRequest) -> None:
        if issuing.revoke_token(token.row):
            write_token_entry("application.token_revoked", token.row, request.client)


class Introspection(_TokenParameters, IntrospectionEndpoint):  # type: ignore[misc]
    """Token introspection (RFC 7662), by clients for their own tokens."""

    CLIENT_AUTH_METHODS = (BASIC, POST)

    def check_permission(self, token: Token, client: Client, request: OAuthRequest) -> bool:
        return token.check_client(client)

    def introspect_token(self, token: Token) -> dict[str, Any]:
        row = token.row
        kind = {"token_type": "Bearer"} if row.kind == "access" else {}
        return {
            "active": True,
            "scope": token.get_scope(),
            "client_id": row.application_id,
            **kind,
            "exp": int(min(row.expires_at, row.family_ends_at).timestamp()),
            "iat": int(row.created_at.timestamp()),
            "sub": row.user_id,
            "account_id": row.account_id,
        }


class Server(AuthorizationServer):  # type: ignore[misc]
    """Authlib's server without a web framework: ``OAuthRequest`` in, ``OAuthResponse`` out."""

    def __init__(self) -> None:
        super().__init__(scopes_supported=list(SCOPES))
        self.register_grant(CodeGrant, [Pkce(required=True)])
        self.register_grant(RefreshGrant)
        self.register_endpoint(Revocation)
        self.register_endpoint(Introspection)

    def query_client(self, client_id: str) -> Client | None:
        return find_client(client_id)

    def create_oauth2_request(self, request: OAuthRequest) -> OAuthRequest:
        return request

    def get_token_grant(self, request: OAuthRequest) -> Any:
        if "grant_type" not in request.form:
            raise InvalidRequestError(Description.GRANT_TYPE)
        return super().get_token_grant(request)

    def authenticate_client(
        self, request: OAuthRequest, methods: list[str], endpoint: str = "token"
    ) -> Client:
        client, method = authenticate_client(request.form, request.headers["Authorization"])
        if method not in methods:
            raise InvalidClientError(Description.PUBLIC_CLIENT, status_code=401)
        request.client, request.auth_method = client, method
        return client

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Signals are not used."""

    def handle_response(self, status: int, body: Mapping[str, Any], headers: Any) -> OAuthResponse:
        return OAuthResponse(status, body, {})

    def handle_error_response(self, request: OAuthRequest, error: OAuth2Error) -> OAuthResponse:
        return error_response(error)


server: Final = Server()
