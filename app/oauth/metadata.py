"""The metadata of the OAuth server (RFC 8414)."""

from __future__ import annotations

from typing import Any

from app.http.urls import AUTHORIZE
from app.oauth.clients import BASIC, NONE, POST
from app.policy.permissions import SCOPES


def server_metadata(issuer: str) -> dict[str, Any]:
    """The metadata for this issuer, which is also the base URL of the endpoints."""
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}{AUTHORIZE}",
        "token_endpoint": f"{issuer}/oauth/token",
        "revocation_endpoint": f"{issuer}/oauth/revoke",
        "introspection_endpoint": f"{issuer}/oauth/introspect",
        "service_documentation": f"{issuer}/docs",
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": [BASIC, POST, NONE],
        "revocation_endpoint_auth_methods_supported": [BASIC, POST, NONE],
        "introspection_endpoint_auth_methods_supported": [BASIC, POST],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }
