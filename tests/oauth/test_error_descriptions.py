"""Every error of the OAuth server says what is wrong and what to do, in plain English."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.policy.limits import OAUTH_REJECTIONS
from app.policy.oauth_errors import Description
from tests.make import Application, Browser, Client, make_application
from tests.make.oauth import VERIFIER, ask_token, exchange, refresh
from tests.oauth.support import (
    OFFLINE,
    authorize_url,
    browser_of,
    code_of,
    consented_browser,
    link_query,
    redirect_query,
    tokens_of,
)

FORM = "application/x-www-form-urlencoded"


class Server:
    """What each wrong request to the OAuth server is answered."""

    def __init__(self, client: Client) -> None:
        self.client, self.app = client, client.app
        self.application = make_application(client)
        self.public = make_application(client, public=True)

    def browser(self, application: Application | None = None) -> Browser:
        """The browser of somebody who has granted an application something."""
        return consented_browser(self.client, application or self.application)

    def raw(self, path: str, body: bytes = b"", **options: Any) -> TestResponse:
        options.setdefault("content_type", FORM)
        return self.app.test_client().post(path, data=body, **options)

    def exchange(self, *, application: Application | None = None, **fields: Any) -> TestResponse:
        """Exchange a code, with these fields in place of the right ones."""
        asked = {name: fields.pop(name) for name in ("code_challenge",) if name in fields}
        if asked:
            asked["code_challenge_method"] = None
        application = application or self.application
        code = code_of(self.client, application, **asked)
        return exchange(self.app, application, fields.pop("code", code), **fields)

    def refresh(self, **fields: Any) -> TestResponse:
        token = tokens_of(self.client, self.application, OFFLINE)["refresh_token"]
        return refresh(self.app, self.application, fields.pop("token", token), **fields)

    def used_code(self) -> TestResponse:
        code = code_of(self.client, self.application)
        exchange(self.app, self.application, code)
        return exchange(self.app, self.application, code)

    def twice(self) -> TestResponse:
        proof = f"{self.application.id}:{self.application.secret}".encode()
        headers = {"Authorization": f"Basic {base64.b64encode(proof).decode()}"}
        return self.raw(
            "/oauth/token", b"client_secret=x&grant_type=refresh_token", headers=headers
        )

    def of_another(self) -> TestResponse:
        token = tokens_of(self.client, self.application)["access_token"]
        return ask_token(self.app, self.public, "/oauth/revoke", token=token)


# What is asked of the endpoints, and the description in the answer.
ENDPOINTS: dict[str, tuple[Callable[[Server], TestResponse], Description]] = {
    "not a form": (
        lambda s: s.raw("/oauth/token", b"{}", content_type="application/json"),
        Description.FORM,
    ),
    "a query": (lambda s: s.raw("/oauth/token?a=b", b"a=b"), Description.QUERY),
    "no UTF-8": (lambda s: s.raw("/oauth/token", b"a=%ff"), Description.ENCODING),
    "too many parameters": (lambda s: s.raw("/oauth/token", b"a=b&" * 60), Description.ENCODING),
    "a long parameter": (
        lambda s: s.raw("/oauth/token", b"a=" + b"x" * 2_001), Description.LENGTH
    ),
    "NUL": (lambda s: s.raw("/oauth/token", b"a=%00"), Description.LENGTH),
    "repeated": (lambda s: s.raw("/oauth/token", b"a=1&a=2"), Description.REPEATED),
    "cut off": (
        lambda s: s.raw("/oauth/token", b"a=1", environ_overrides={"CONTENT_LENGTH": "99"}),
        Description.INCOMPLETE,
    ),
    "too large": (lambda s: s.raw("/oauth/token", b"x" * 70_000), Description.TOO_LARGE),
    "another method": (lambda s: s.app.test_client().get("/oauth/token"), Description.METHOD),
    "credentials in two ways": (Server.twice, Description.CREDENTIALS_TWICE),
    "an unknown client": (
        lambda s: s.raw("/oauth/token", b"client_id=x&grant_type=refresh_token"),
        Description.CLIENT,
    ),
    "a wrong secret": (lambda s: s.exchange(client_secret="wrong"), Description.CLIENT),
    "a secret of a public client": (
        lambda s: s.exchange(application=s.public, client_secret="any"), Description.CLIENT
    ),
    "introspection without a secret": (
        lambda s: ask_token(s.app, s.public, "/oauth/introspect", token="x"),
        Description.PUBLIC_CLIENT,
    ),
    "no grant_type": (lambda s: s.exchange(grant_type=None), Description.GRANT_TYPE),
    "another grant_type": (lambda s: s.exchange(grant_type="password"), Description.GRANT_TYPE),
    "no code": (lambda s: s.exchange(code=None), Description.CODE_MISSING),
    "an unknown code": (lambda s: s.exchange(code="x"), Description.CODE),
    "a used code": (Server.used_code, Description.CODE),
    "a code of another": (
        lambda s: exchange(s.app, s.public, code_of(s.client, s.application)), Description.CODE
    ),
    "another redirect_uri": (
        lambda s: s.exchange(redirect_uri="https://client.example/other"),
        Description.REDIRECT_URI,
    ),
    "no redirect_uri": (lambda s: s.exchange(redirect_uri=None), Description.REDIRECT_URI),
    "no verifier": (lambda s: s.exchange(code_verifier=None), Description.VERIFIER_MISSING),
    "no verifier of a public client": (
        lambda s: s.exchange(application=s.public, code_verifier=None),
        Description.VERIFIER_MISSING,
    ),
    "a short verifier": (lambda s: s.exchange(code_verifier="short"), Description.VERIFIER),
    "a wrong verifier": (
        lambda s: s.exchange(code_verifier=VERIFIER[::-1]), Description.VERIFIER_WRONG
    ),
    "an unexpected verifier": (
        lambda s: s.exchange(code_challenge=None), Description.VERIFIER_UNEXPECTED
    ),
    "no refresh token": (lambda s: s.refresh(token=None), Description.REFRESH_MISSING),
    "an unknown refresh token": (lambda s: s.refresh(token="x"), Description.REFRESH),
    "more scopes": (lambda s: s.refresh(scope="assets:read"), Description.SCOPE_NOT_GRANTED),
    "no token to revoke": (
        lambda s: ask_token(s.app, s.application, "/oauth/revoke"), Description.SUBJECT_MISSING
    ),
    "no token to inspect": (
        lambda s: ask_token(s.app, s.application, "/oauth/introspect"),
        Description.SUBJECT_MISSING,
    ),
    "a token of another": (Server.of_another, Description.OTHER_CLIENT),
}  # fmt: skip

# What is wrong with an authorization request, and the description in the redirect.
REQUESTS: dict[str, tuple[dict[str, str | None], Description]] = {
    "no response_type": ({"response_type": None}, Description.RESPONSE_TYPE),
    "another response_type": ({"response_type": "token"}, Description.RESPONSE_TYPE),
    "another response_mode": ({"response_mode": "fragment"}, Description.RESPONSE_MODE),
    "prompt": ({"prompt": "none consent"}, Description.PROMPT),
    "no scope": ({"scope": None}, Description.SCOPE),
    "an unknown scope": ({"scope": "bees"}, Description.SCOPE),
    "a bad challenge": ({"code_challenge": "short"}, Description.CHALLENGE),
    "another method": ({"code_challenge_method": "plain"}, Description.CHALLENGE_METHOD),
    "more scopes, without a page": ({"prompt": "none"}, Description.CONSENT_REQUIRED),
    "a request object": ({"request": "eyJ.x.y"}, Description.REQUEST),
    "the address of one": ({"request_uri": "urn:x:y"}, Description.REQUEST_URI),
}
# These come about in tests of their own.
ELSEWHERE = {
    Description.DENIED,
    Description.LOGIN_REQUIRED,
    Description.UNAVAILABLE,
    Description.FAULT,
}


@pytest.fixture
def server(client: Client) -> Server:
    return Server(client)


def check(response: TestResponse, description: str) -> None:
    assert response.status_code >= 400
    assert set(response.json) == {"error", "error_description"}
    assert response.json["error_description"] == description


def test_an_endpoint_says_what_to_do(server: Server, subtests: pytest.Subtests) -> None:
    for case, (ask, description) in ENDPOINTS.items():
        with subtests.test(case):
            check(ask(server), description)


def test_a_redirect_says_what_to_do(server: Server, subtests: pytest.Subtests) -> None:
    browser = server.browser()
    for case, (fields, description) in REQUESTS.items():
        url = authorize_url(server.application, **fields)
        with subtests.test(case):
            response = redirect_query(browser.get(url, follow=False))
            assert response["error_description"] == description


def test_a_public_application_without_pkce_is_told_of_it(server: Server) -> None:
    url = authorize_url(server.public, code_challenge=None, code_challenge_method=None)
    response = redirect_query(server.browser(server.public).get(url, follow=False))
    assert response["error_description"] == Description.CHALLENGE


def test_a_repeated_parameter(server: Server) -> None:
    url = f"{authorize_url(server.application)}&x=1&x=2"
    response = redirect_query(server.browser().get(url, follow=False))
    assert response["error_description"] == Description.REPEATED


def test_a_denial_and_a_missing_consent(client: Client, server: Server) -> None:
    browser = browser_of(client)
    page = browser.get(authorize_url(server.application))
    denied = redirect_query(browser.submit(page.path, press="deny", follow=False))
    assert denied["error_description"] == Description.DENIED
    silent = authorize_url(server.application, prompt="none")
    refused = link_query(browser.get(silent, follow=False))
    assert refused["error_description"] == Description.CONSENT_REQUIRED
    refused = link_query(Browser(client.app).get(silent, follow=False))
    assert refused["error_description"] == Description.LOGIN_REQUIRED


def test_too_many_requests_are_told_when_to_come_back(server: Server) -> None:
    caller = server.app.test_client()
    for _ in range(OAUTH_REJECTIONS.requests + 1):
        response = caller.post("/oauth/token", data={"client_id": "x"})
    assert response.status_code == 429
    wait = response.headers["Retry-After"]
    assert response.json["error_description"] == (
        f"The OAuth server allows {OAUTH_REJECTIONS.requests} failed requests in 60 seconds from "
        f"one client address. Try again in {wait} seconds."
    )


def test_every_description_is_given_by_one_of_these_requests() -> None:
    given = {description for _, description in (*ENDPOINTS.values(), *REQUESTS.values())}
    assert given | ELSEWHERE | {Description.REPEATED} == set(Description)


def test_a_description_is_as_the_standard_allows() -> None:
    """RFC 6749, sections 4.1.2.1 and 5.2."""
    for description in Description:
        assert all(" " <= letter <= "~" and letter not in '"\\' for letter in description)
        assert description[-1] in ".~"
