"""The first steps of a developer with an application: addresses and a command."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any, NamedTuple
from urllib.parse import urlencode

from app.oauth.metadata import server_metadata
from app.oauth.requests import issuer_identifier


class FirstSteps(NamedTuple):
    """Addresses of the OAuth server, and a command that exchanges a code for tokens."""

    authorize: str
    token: str
    metadata: str
    command: str


def first_steps(application: Mapping[str, Any], secret: str | None = None) -> FirstSteps:
    """Return the first steps for an application with this record.

    Args:
        secret: the client secret; without it, the command has a variable of the shell.
    """
    server = server_metadata(issuer_identifier())
    query = {
        "response_type": "code",
        "client_id": application["client_id"],
        "redirect_uri": application["redirect_uris"][0],
        "scope": " ".join(application["scopes"]),
        "state": "STATE",
    }
    if application["public"]:
        query |= {"code_challenge": "CHALLENGE", "code_challenge_method": "S256"}
    return FirstSteps(
        f"{server['authorization_endpoint']}?{urlencode(query)}",
        server["token_endpoint"],
        f"{issuer_identifier()}/.well-known/oauth-authorization-server",
        " \\\n  ".join(
            [f"curl {quote(server['token_endpoint'])}", *_token_request_fields(application, secret)]
        ),
    )


def _token_request_fields(application: Mapping[str, Any], secret: str | None) -> list[str]:
    proof = f"client_secret={secret}" if secret else '"client_secret=$CLIENT_SECRET"'
    return [
        "-d grant_type=authorization_code",
        f"-d client_id={application['client_id']}",
        f"-d {'code_verifier=VERIFIER' if application['public'] else proof}",
        "-d code=CODE",
        f"--data-urlencode {quote('redirect_uri=' + application['redirect_uris'][0])}",
    ]
