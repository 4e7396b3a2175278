"""GET /v1/auth/verify: kind and permissions of a credential, without an envelope."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.policy.permissions import PERMISSIONS, expand
from app.security import tokens
from tests.make import Client, make_key, make_service_token

Maker = Callable[..., Client]


@pytest.mark.parametrize(
    ("make", "kind"), [(make_key, "api_key"), (make_service_token, "service_token")]
)
def test_a_valid_credential(client: Client, make: Maker, kind: str) -> None:
    response = make(client, permissions=["projects:write", "assets:read"]).get("/v1/auth/verify")
    assert response.status_code == 200
    assert response.json == {
        "valid": True,
        "type": kind,
        "permissions": ["assets:read", "projects:read", "projects:write"],
        "account_id": client.account_id,
        "expires_at": None,
    }


@pytest.mark.parametrize("permission", PERMISSIONS)
def test_permissions_are_listed_with_what_they_include(client: Client, permission: str) -> None:
    given = make_key(client, permissions=[permission, permission])
    assert given.get("/v1/auth/verify").json["permissions"] == sorted(expand([permission]))


@pytest.mark.parametrize(
    ("prefix", "kind"),
    [
        (tokens.REFRESH_TOKEN, "a refresh token"),
        (tokens.AUTHORIZATION_CODE, "an authorization code"),
        (tokens.CLIENT_SECRET, "the secret of an application"),
    ],
)
def test_a_token_of_another_kind_is_named(client: Client, prefix: str, kind: str) -> None:
    headers = {"Authorization": f"Bearer {tokens.new_token(prefix)}"}
    response = client.nobody().get("/v1/auth/verify", headers=headers)
    assert response.status_code == 401
    assert response.json["error"]["message"].startswith(f"This is {kind}, which only /oauth/token")


@pytest.mark.parametrize(
    ("authorization", "challenge"),
    [
        (None, 'Bearer realm="canopy"'),
        ("Basic eDp5", 'Bearer realm="canopy", error="invalid_request"'),
        ("Bearer x", 'Bearer realm="canopy", error="invalid_token"'),
        ("Bearer {unknown}", 'Bearer realm="canopy", error="invalid_token"'),
    ],
)
def test_an_invalid_credential(client: Client, authorization: str | None, challenge: str) -> None:
    unknown = tokens.new_token(tokens.API_KEY)
    sent = (authorization or "").format(unknown=unknown)
    headers = {"Authorization": sent} if sent else {}
    response = client.nobody().get("/v1/auth/verify", headers=headers)
    assert response.status_code == 401
    assert response.json["valid"] is False
    assert response.json["error"]["code"] == "UNAUTHORIZED"
    assert response.headers["WWW-Authenticate"] == challenge


def test_other_routes_do_not_return_valid(client: Client) -> None:
    assert "valid" not in client.nobody().get("/v1/account").json
