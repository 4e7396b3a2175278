"""Applications that act for people, and what people grant them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from flask import Flask
from werkzeug.test import TestResponse

from app.db.transactions import transaction
from app.oauth import requests, service
from app.oauth.applications.service import create_application
from app.policy.permissions import SCOPES
from tests.contract import check_contract
from tests.make.accounts import Client

BACK = "https://client.example/back"
VERIFIER = "a-verifier-of-more-than-forty-three-characters"


@dataclass(frozen=True)
class Application:
    """An application, with its secret if it has one."""

    id: str
    account_id: str
    secret: str | None
    redirect_uri: str
    scopes: tuple[str, ...]

    @property
    def proof(self) -> dict[str, str]:
        """The fields of a form by which it authenticates."""
        secret = {} if self.secret is None else {"client_secret": self.secret}
        return {"client_id": self.id} | secret


def make_application(
    client: Client,
    *,
    public: bool = False,
    scopes: Sequence[str] = tuple(SCOPES),
    redirect_uris: Sequence[str] = (BACK,),
    name: str = "Map of Woods",
) -> Application:
    """A new application that the account of ``client`` registers."""
    with client.app.app_context(), transaction():
        made, secret = create_application(
            client.account_id, name=name, redirect_uris=redirect_uris, scopes=scopes, public=public
        )
        return Application(made.id, client.account_id, secret, redirect_uris[0], tuple(scopes))


def challenge_of(verifier: str) -> str:
    """The PKCE challenge of a verifier, by S256."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def request_of(application: Application, **fields: str | None) -> dict[str, str]:
    """The parameters of a good authorization request, with these in place of its own; None leaves
    one out."""
    values: dict[str, str | None] = {
        "response_type": "code",
        "client_id": application.id,
        "redirect_uri": application.redirect_uri,
        "scope": " ".join(application.scopes),
        "state": "xyz",
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
    }
    return {name: value for name, value in (values | fields).items() if value is not None}


def grant_code(
    app: Flask, application: Application, user_id: str, account_id: str, **fields: str | None
) -> str:
    """A code that a person's consent gave; ``fields`` as in ``request_of``."""
    with app.app_context(), transaction():
        asked = requests.read_request(urlencode(request_of(application, **fields)).encode())
        url = service.grant_request(asked, user_id, account_id, is_confirmed=True)
    return parse_qs(urlsplit(url).query)["code"][0]


def ask_token(
    app: Flask, application: Application, path: str = "/oauth/token", **fields: str | None
) -> TestResponse:
    """What an endpoint answers an application; a field of None is left out."""
    form = application.proof | fields
    data = {name: value for name, value in form.items() if value is not None}
    response = app.test_client().post(path, data=data)
    check_contract(app, response)
    return response


def code_form(application: Application, code: str) -> dict[str, str]:
    """The fields that exchange a code, without those that authenticate the client."""
    return {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": application.redirect_uri,
        "code_verifier": VERIFIER,
    }


def exchange(app: Flask, application: Application, code: str, **fields: str | None) -> TestResponse:
    """What an application gets for a code."""
    return ask_token(app, application, **(code_form(application, code) | fields))


def refresh(app: Flask, application: Application, token: str, **fields: str | None) -> TestResponse:
    """What an application gets for a refresh token."""
    values: dict[str, str | None] = {"grant_type": "refresh_token", "refresh_token": token}
    return ask_token(app, application, **(values | fields))


def grant_tokens(
    app: Flask,
    application: Application,
    user_id: str,
    account_id: str,
    scopes: Sequence[str] = ("projects:read",),
) -> dict[str, Any]:
    """What the token endpoint gives for a person's consent to these scopes."""
    code = grant_code(app, application, user_id, account_id, scope=" ".join(scopes))
    response = exchange(app, application, code)
    assert response.status_code == 200, response.get_data(as_text=True)
    answer: dict[str, Any] = response.json
    return answer


def bearer(client: Client, token: str) -> Client:
    """A caller with an access token in the account of ``client``."""
    return Client(client.app, client.account_id, client.owner_id, token)
