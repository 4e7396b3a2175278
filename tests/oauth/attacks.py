"""A corpus of attacks on token endpoints."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from typing import Any, NamedTuple

import pytest
from werkzeug.test import TestResponse

from app.account.members.service import remove_member
from app.db.transactions import transaction
from app.oauth.applications.client_secrets import end_former_secret, rotate_secret
from app.oauth.applications.service import delete_application
from app.policy.oauth import CODE_LIFE
from app.security import tokens
from app.values import clock
from tests.make import Application, Client, make_application, make_member, operator_of
from tests.make.oauth import (
    BACK,
    VERIFIER,
    challenge_of,
    exchange,
    grant_code,
    grant_tokens,
    refresh,
)
from tests.oauth.support import OFFLINE

OTHER = "a-verifier-that-is-not-the-one-of-the-request"


class Scene:
    """An application with a code and tokens of a member; another one, and a public one."""

    def __init__(self, client: Client, stranger: Client, patch: pytest.MonkeyPatch) -> None:
        self.client, self.stranger, self.patch = client, stranger, patch
        self.app = client.app
        self.member = make_member(client)
        self.own = make_application(client)
        self.code = self.code_for(self.own)
        self.tokens = self.tokens_for(self.own)

    @cached_property
    def other(self) -> Application:
        return make_application(self.stranger)

    @cached_property
    def public(self) -> Application:
        return make_application(self.client, public=True)

    def code_for(self, application: Application, **fields: str | None) -> str:
        member, account = self.member.id, self.client.account_id
        scope = " ".join(OFFLINE)
        return grant_code(self.app, application, member, account, **({"scope": scope} | fields))

    def tokens_for(self, application: Application) -> dict[str, Any]:
        return grant_tokens(self.app, application, self.member.id, self.client.account_id, OFFLINE)

    def exchange(
        self, application: Application | None = None, **fields: str | None
    ) -> TestResponse:
        """The exchange of the application's code, with these fields in place of its own."""
        fields = {"code": self.code} | fields
        return exchange(self.app, application or self.own, fields.pop("code") or "", **fields)

    def refresh(self, application: Application | None = None, **fields: str | None) -> TestResponse:
        fields = {"refresh_token": self.tokens["refresh_token"]} | fields
        token = fields.pop("refresh_token") or ""
        return refresh(self.app, application or self.own, token, **fields)

    def post(self, form: Any = None, headers: dict[str, str] | None = None, query: str = "",
             **options: Any) -> TestResponse:  # fmt: skip
        """A request that is not as ``exchange`` makes it."""
        given = options or {"data": self.form if form is None else form}
        return self.app.test_client().post(f"/oauth/token{query}", headers=headers, **given)

    @property
    def form(self) -> dict[str, Any]:
        return self.own.proof | {
            "grant_type": "authorization_code",
            "code": self.code,
            "redirect_uri": BACK,
            "code_verifier": VERIFIER,
        }

    def without(self, *names: str) -> dict[str, Any]:
        return {name: value for name, value in self.form.items() if name not in names}

    def advance_clock(self, by: timedelta) -> Scene:
        moment = clock.now() + by
        self.patch.setattr(clock, "now", lambda: moment)
        return self

    def done(self, change: Callable[[Scene], object]) -> Scene:
        """The scene after a change in the database."""
        with self.app.app_context(), transaction():
            change(self)
        return self


def basic(client_id: str, secret: str | None) -> dict[str, str]:
    text = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    return {"Authorization": f"Basic {text}"}


class Attack(NamedTuple):
    """Something that is sent, and what it is answered."""

    tries: str
    send: Callable[[Scene], TestResponse]
    error: str = "invalid_grant"
    status: int = 400
    ends: str = ""  # code, tokens: what is not good anymore afterwards, and rightly


INVALID, CLIENT, SCOPE = "invalid_request", "invalid_client", "invalid_scope"
_plain = {"code_challenge": None, "code_challenge_method": None}

ATTACKS = [
    # PKCE.
    Attack("no verifier", lambda s: s.exchange(code_verifier=None), INVALID),
    Attack("an empty verifier", lambda s: s.exchange(code_verifier=""), INVALID),
    Attack("a wrong verifier", lambda s: s.exchange(code_verifier=OTHER)),
    Attack("the challenge as verifier", lambda s: s.exchange(code_verifier=challenge_of(VERIFIER))),
    Attack("a short verifier", lambda s: s.exchange(code_verifier="x" * 42), INVALID),
    Attack("a long verifier", lambda s: s.exchange(code_verifier="x" * 129), INVALID),
    Attack("a verifier of other letters", lambda s: s.exchange(code_verifier="ü" * 50), INVALID),
    Attack("a method at the token endpoint", lambda s: s.exchange(
        code_verifier=challenge_of(VERIFIER), code_challenge_method="plain")),
    Attack("a verifier without a challenge", lambda s: s.exchange(
        code=s.code_for(s.own, **_plain)), INVALID),
    Attack("a public application without a verifier", lambda s: s.exchange(
        s.public, code=s.code_for(s.public), code_verifier=None), INVALID),
    # Codes.
    Attack("no code", lambda s: s.exchange(code=""), INVALID),
    Attack("a made-up code", lambda s: s.exchange(code=tokens.new_token("canopy_oac_"))),
    Attack("a code with a wrong checksum", lambda s: s.exchange(code=s.code[:-1] + "!")),
    Attack("a code and something behind", lambda s: s.exchange(code=s.code + " ")),
    Attack("a code of other letters", lambda s: s.exchange(code="canopy_oac_ü")),
    Attack("the hash of the code", lambda s: s.exchange(code=tokens.hash_token(s.code))),
    Attack("SQL", lambda s: s.exchange(code="' OR '1'='1")),
    Attack("the code of another application", lambda s: s.exchange(s.other)),
    Attack("the code as a public application", lambda s: s.exchange(s.public)),
    Attack("an access token as code", lambda s: s.exchange(code=s.tokens["access_token"])),
    Attack("a refresh token as code", lambda s: s.exchange(code=s.tokens["refresh_token"])),
    Attack("a code that has expired", lambda s: s.advance_clock(CODE_LIFE).exchange(), ends="code"),
    Attack("a replay", lambda s: (s.exchange(), s.exchange())[1], ends="code"),
    Attack("a replay without redirect URI and verifier", lambda s: (
        s.exchange(), s.exchange(redirect_uri=None, code_verifier=None))[1], ends="code"),
    Attack("a replay as another application", lambda s: (s.exchange(), s.exchange(s.other))[1],
           ends="code"),
    # Redirect URIs.
    Attack("no redirect URI", lambda s: s.exchange(redirect_uri=None)),
    Attack("another redirect URI", lambda s: s.exchange(redirect_uri="https://evil.example/")),
    Attack("a redirect URI that is nearly it", lambda s: s.exchange(redirect_uri=BACK + "/")),
    # Refresh tokens.
    Attack("no refresh token", lambda s: s.refresh(refresh_token=""), INVALID),
    Attack("a made-up refresh token", lambda s: s.refresh(
        refresh_token=tokens.new_token("canopy_ort_"))),
    Attack("an access token at refresh", lambda s: s.refresh(
        refresh_token=s.tokens["access_token"])),
    Attack("a code at refresh", lambda s: s.refresh(refresh_token=s.code)),
    Attack("the refresh token of another application", lambda s: s.refresh(s.other)),
    Attack("the refresh token as a public application", lambda s: s.refresh(s.public)),
    Attack("a used refresh token of another application", lambda s: (
        s.refresh(), s.advance_clock(timedelta(minutes=1)).refresh(s.other))[1], ends="refresh"),
    Attack("a used refresh token", lambda s: (
        s.refresh(refresh_token=s.refresh().json["refresh_token"]),
        s.advance_clock(timedelta(minutes=1)).refresh())[1], ends="tokens"),
    Attack("a refresh token that has expired",
           lambda s: s.advance_clock(timedelta(days=31)).refresh(), ends="all"),
    # Scopes.
    Attack("a wider scope", lambda s: s.refresh(scope="projects:read projects:write"), SCOPE),
    Attack("another scope", lambda s: s.refresh(scope="members:read"), SCOPE),
    Attack("a permission that is no scope", lambda s: s.refresh(scope="admin"), SCOPE),
    Attack("no word of a scope", lambda s: s.refresh(scope=" "), SCOPE),
    # The form.
    Attack("the code in the query", lambda s: s.post(s.without("code"), query=f"?code={s.code}"),
           INVALID),
    Attack("the secret in the query", lambda s: s.post(
        s.without("client_secret"), query=f"?client_secret={s.own.secret}"), INVALID),
    Attack("a JSON body", lambda s: s.post(
        data=json.dumps(s.form), content_type="application/json"), INVALID),
    Attack("JSON that says it is a form", lambda s: s.post(
        data=json.dumps(s.form), content_type="application/x-www-form-urlencoded"), INVALID),
    Attack("a multipart body", lambda s: s.post(
        data=s.form, content_type="multipart/form-data"), INVALID),
    Attack("a code twice", lambda s: s.post(s.form | {"code": [s.code, s.code]}), INVALID),
    Attack("a client twice", lambda s: s.post(s.form | {"client_id": [s.own.id, s.other.id]}),
           INVALID),
    Attack("a grant twice", lambda s: s.post(
        s.form | {"grant_type": ["authorization_code", "refresh_token"]}), INVALID),
    # Who is asking.
    Attack("nobody", lambda s: s.post(s.without("client_id", "client_secret")), CLIENT, 401),
    Attack("no secret", lambda s: s.exchange(client_secret=None), CLIENT, 401),
    Attack("an empty secret", lambda s: s.exchange(client_secret=""), CLIENT, 401),
    Attack("a wrong secret", lambda s: s.exchange(client_secret="x"), CLIENT, 401),
    Attack("a secret of other letters", lambda s: s.exchange(client_secret="ü\u202e"), CLIENT, 401),
    Attack("the secret of another application", lambda s: s.exchange(
        client_secret=s.other.secret), CLIENT, 401),
    Attack("the hash of the secret", lambda s: s.exchange(
        client_secret=tokens.hash_token(s.own.secret or "")), CLIENT, 401),
    Attack("an API key as secret", lambda s: s.exchange(client_secret=s.client.token), CLIENT, 401),
    Attack("a secret before it was rotated", lambda s: s.done(
        lambda s: rotate_secret(s.own.account_id, s.own.id, overlap_hours=0)
        ).exchange(), CLIENT, 401, "all"),
    Attack("a former secret after its end", lambda s: s.done(
        lambda s: rotate_secret(s.own.account_id, s.own.id)).done(
        lambda s: end_former_secret(s.own.account_id, s.own.id)).exchange(), CLIENT, 401, "all"),
    Attack("the secret before the former one", lambda s: s.done(
        lambda s: rotate_secret(s.own.account_id, s.own.id)).done(
        lambda s: rotate_secret(s.own.account_id, s.own.id)).exchange(), CLIENT, 401, "all"),
    Attack("a secret for a public application", lambda s: s.exchange(
        s.public, code=s.code_for(s.public), client_secret="x"), CLIENT, 401),
    Attack("an unknown application", lambda s: s.exchange(client_id="app_x"), CLIENT, 401),
    Attack("an application that is deleted", lambda s: s.done(
        lambda s: delete_application(s.own.account_id, s.own.id)).exchange(), CLIENT, 401, "all"),
    Attack("wrong Basic", lambda s: s.post(
        s.without("client_id", "client_secret"), headers=basic(s.own.id, "x")), CLIENT, 401),
    Attack("Basic without a secret", lambda s: s.post(
        s.without("client_id", "client_secret"), headers=basic(s.public.id, "")), CLIENT, 401),
    Attack("an access token as proof", lambda s: s.post(
        s.without("client_secret"),
        headers={"Authorization": f"Bearer {s.tokens['access_token']}"}), CLIENT, 401),
    Attack("a header that names the client", lambda s: s.post(
        s.without("client_id", "client_secret"), headers={"X-Client-Id": s.own.id}), CLIENT, 401),
    # Who is asked for.
    Attack("a code of a member who was removed", lambda s: s.done(
        lambda s: remove_member(operator_of(s.client), s.member.id)).exchange(), ends="all"),
    Attack("a refresh token of a member who was removed", lambda s: s.done(
        lambda s: remove_member(operator_of(s.client), s.member.id)).refresh(), ends="all"),
]  # fmt: skip
