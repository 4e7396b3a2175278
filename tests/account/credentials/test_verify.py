"""GET /v1/auth/verify: kind and permissions of a credential, without an envelope."""

from __future__ import annotations

from werkzeug.test import TestResponse

from app.policy.permissions import PERMISSIONS, expand_permissions
from app.security import tokens
from tests.make import Client, make_key, make_service_token


def test_a_valid_credential(client: Client) -> None:
    for make, kind in ((make_key, "api_key"), (make_service_token, "service_token")):
        caller = make(client, permissions=["projects:write", "assets:read"])
        response = caller.get("/v1/auth/verify")
        assert response.status_code == 200
        assert response.json == {
            "valid": True,
            "type": kind,
            "permissions": ["assets:read", "projects:read", "projects:write"],
            "account_id": client.account_id,
            "expires_at": None,
        }


def test_permissions_are_listed_with_what_they_include(client: Client) -> None:
    for permission in PERMISSIONS:
        caller = make_key(client, permissions=[permission, permission])
        assert caller.get("/v1/auth/verify").json["permissions"] == sorted(
            expand_permissions([permission])
        )


def test_a_token_of_another_kind_is_named(client: Client) -> None:
    for prefix, kind in (
        (tokens.REFRESH_TOKEN, "a refresh token"),
        (tokens.AUTHORIZATION_CODE, "an authorization code"),
        (tokens.CLIENT_SECRET, "the secret of an application"),
    ):
        response = verify(client, f"Bearer {tokens.new_token(prefix)}")
        message = response.json["error"]["message"]
        assert message.startswith(f"This is {kind}, which only /oauth/token")


def test_an_invalid_credential(client: Client) -> None:
    realm = 'Bearer realm="canopy"'
    for authorization, challenge in (
        (None, realm),
        ("Basic eDp5", f'{realm}, error="invalid_request"'),
        ("Bearer x", f'{realm}, error="invalid_token"'),
        (f"Bearer {tokens.new_token(tokens.API_KEY)}", f'{realm}, error="invalid_token"'),
    ):
        response = verify(client, authorization)
        assert response.json["valid"] is False
        assert response.json["error"]["code"] == "UNAUTHORIZED"
        assert response.headers["WWW-Authenticate"] == challenge


def verify(client: Client, authorization: str | None) -> TestResponse:
    headers = {"Authorization": authorization} if authorization else {}
    response = client.nobody().get("/v1/auth/verify", headers=headers)
    assert response.status_code == 401
    return response


def test_other_routes_do_not_return_valid(client: Client) -> None:
    assert "valid" not in client.nobody().get("/v1/account").json
