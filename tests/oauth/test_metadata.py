"""The metadata of the OAuth server, and CORS on its endpoints."""

from __future__ import annotations

from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from flask import Flask

from app.oauth.metadata import server_metadata
from app.policy.permissions import SCOPES
from tests.make import second_app

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


def test_a_configured_origin_is_allowed_where_browsers_ask(app: Flask) -> None:
    headers = {"Origin": "https://app.example"}
    with second_app(app, cors_origins=frozenset({"https://app.example"})) as site:
        caller = site.test_client()
        for path in ("/oauth/token", "/oauth/revoke", METADATA):
            method = "GET" if path == METADATA else "POST"
            asked = headers | {"Access-Control-Request-Method": method}
            preflight = caller.options(path, headers=asked)
            assert preflight.status_code == 204
            assert method in preflight.headers["Access-Control-Allow-Methods"]
            response = caller.open(path, method=method, headers=headers)
            assert response.headers["Access-Control-Allow-Origin"] == "https://app.example"
        asked = headers | {"Access-Control-Request-Method": "POST"}
        for path in ("/oauth/introspect", "/oauth/authorize", "/applications"):
            for method in ("OPTIONS", "POST", "GET"):
                response = caller.open(path, method=method, headers=asked)
                assert "Access-Control-Allow-Origin" not in response.headers, (method, path)


def test_without_the_setting_no_origin_is_allowed(app: Flask) -> None:
    headers = {"Origin": "https://app.example"}
    response = app.test_client().post("/oauth/token", headers=headers)
    assert "Access-Control-Allow-Origin" not in response.headers


def test_metadata_uses_the_public_url(app: Flask) -> None:
    with second_app(app, public_url="https://forest.example") as site:
        assert site.test_client().get(METADATA).json["issuer"] == "https://forest.example"
        spec = site.test_client().get("/v1/openapi.json").json
    flow = spec["components"]["securitySchemes"]["oauth"]["flows"]["authorizationCode"]
    assert flow["scopes"] == SCOPES
    assert flow["tokenUrl"].endswith("/oauth/token")
