"""The metadata of the OAuth server, and CORS on its endpoints."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from flask import Flask

from app.oauth.metadata import server_metadata
from app.policy.permissions import SCOPES
from tests.make import Client, make_account
from tests.make.apps import bare_app

METADATA = "/.well-known/oauth-authorization-server"


def test_metadata(app: Flask) -> None:
    response = app.test_client().get(METADATA)
    assert response.status_code == 200
    issuer = app.config["SETTINGS"].public_url
    found = response.json
    assert found["issuer"] == issuer
    assert found["authorization_endpoint"] == f"{issuer}/oauth/authorize"
    assert found["token_endpoint"] == f"{issuer}/oauth/token"
    assert found["scopes_supported"] == list(SCOPES)
    assert found["code_challenge_methods_supported"] == ["S256"]
    assert found["authorization_response_iss_parameter_supported"] is True
    rules = {rule.rule for rule in app.url_map.iter_rules()}
    for name, value in found.items():
        if name.endswith(("_endpoint", "_documentation")):
            assert value.removeprefix(issuer) in rules


def test_metadata_conforms_to_rfc_8414() -> None:
    AuthorizationServerMetadata(server_metadata("https://forest.example")).validate()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("oauth")
    with bare_app(folder, REDIS_URL=valkey_url, CORS_ORIGINS="https://app.example") as made:
        yield make_account(made)


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke", METADATA])
def test_a_configured_origin_is_allowed(opened: Client, path: str) -> None:
    headers = {"Origin": "https://app.example"}
    method = "GET" if path == METADATA else "POST"
    preflight = opened.app.test_client().options(
        path, headers=headers | {"Access-Control-Request-Method": method}
    )
    assert preflight.status_code == 204
    assert method in preflight.headers["Access-Control-Allow-Methods"]
    response = opened.app.test_client().open(path, method=method, headers=headers)
    assert response.headers["Access-Control-Allow-Origin"] == "https://app.example"


@pytest.mark.parametrize("path", ["/oauth/introspect", "/oauth/authorize", "/applications"])
def test_other_endpoints_are_not_opened_to_origins(opened: Client, path: str) -> None:
    headers = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    for method in ("OPTIONS", "POST", "GET"):
        response = opened.app.test_client().open(path, method=method, headers=headers)
        assert "Access-Control-Allow-Origin" not in response.headers


def test_without_the_setting_no_origin_is_allowed(client: Client) -> None:
    headers = {"Origin": "https://app.example"}
    response = client.app.test_client().post("/oauth/token", headers=headers)
    assert "Access-Control-Allow-Origin" not in response.headers


def test_metadata_uses_the_public_url(tmp_path: Path) -> None:
    with bare_app(tmp_path, PUBLIC_URL="https://forest.example/") as app:
        assert app.test_client().get(METADATA).json["issuer"] == "https://forest.example"
        spec = app.test_client().get("/v1/openapi.json").json
    assert dataclasses.is_dataclass(app.config["SETTINGS"])
    flow = spec["components"]["securitySchemes"]["oauth"]["flows"]["authorizationCode"]
    assert flow["scopes"] == SCOPES
    assert flow["tokenUrl"].endswith("/oauth/token")
