"""What ``docs/oauth.md`` says: its requests are answered as it shows, its numbers are the policy's,
and each error that it explains comes as it says. Its programs are run in tests/browser/oauth."""

from __future__ import annotations

import argparse
import base64
import re
from collections.abc import Callable
from datetime import timedelta
from string import Template
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from app.oauth.redirect_uris import redirect_uri_problem
from app.policy import oauth as policy
from app.policy.permissions import ROLES, SCOPES
from app.policy.rate_limits import OAUTH_REJECTIONS, REFRESHES, REFRESHES_PER_DAY, WINDOW_SECONDS
from app.values.strict_json import loads
from tests.architecture.documents import documents
from tests.docs.pages import blocks, commands
from tests.make import Application, Browser, Client, make_application
from tests.make.oauth import BACK, ask_token, exchange, refresh
from tests.oauth.support import (
    authorize_url,
    browser_of,
    code_of,
    consented_browser,
    link_query,
    redirect_query,
    tokens_of,
)

PAGE = documents()["docs/oauth.md"]
LOOPBACK = "http://127.0.0.1:40963/back"  # of the request whose code the page exchanges
ADDRESS, NOTHING = "http://127.0.0.1:8000", {"active": False}
_HEAD = re.compile(r"^\|.*\n\|[ |-]*-[ |-]*$", re.MULTILINE)

_CURL = argparse.ArgumentParser(exit_on_error=False)
_CURL.add_argument("url")
_CURL.add_argument("-H", dest="headers", action="append", default=[])
_CURL.add_argument("-u", dest="proof")
_CURL.add_argument("-d", dest="fields", action="append", default=[])


def section(heading: str) -> str:
    """What stands below a heading."""
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def tables(text: str) -> list[list[str]]:
    """The rows of the tables of a text, without their headings."""
    rows = re.findall(r"^\|(.*)\|$", _HEAD.sub("", text), re.M)
    return [[cell.strip() for cell in row.split(" | ")] for row in rows]


def fits(shown: Any, answer: Any) -> bool:
    """Whether an answer is what the page shows; "…" stands for anything, as in ``"acct_…"``."""
    if isinstance(shown, dict):
        return (
            isinstance(answer, dict)
            and shown.keys() == answer.keys()
            and all(fits(shown[name], answer[name]) for name in shown)
        )
    if isinstance(shown, str) and shown.endswith("…"):
        return isinstance(answer, str) and answer.startswith(shown[:-1])
    if isinstance(shown, int) and shown > 1_000_000_000:  # a moment
        return isinstance(answer, int) and answer > 1_000_000_000
    return bool(shown == answer)


# Requests and answers.


def send(client: Client, words: list[str], values: dict[str, str]) -> TestResponse:
    """Send what ``curl`` with these words would send, with values for its variables."""
    sent = _CURL.parse_args([Template(word).substitute(values) for word in words])
    address = urlsplit(sent.url)
    assert f"{address.scheme}://{address.netloc}" == ADDRESS
    headers = dict(header.split(": ", 1) for header in sent.headers)
    if sent.proof is not None:
        headers["Authorization"] = f"Basic {base64.b64encode(sent.proof.encode()).decode()}"
    form = dict(field.split("=", 1) for field in sent.fields)
    return client.app.test_client().open(
        address.path, method="POST" if form else "GET", headers=headers, data=form or None
    )


def values_of(client: Client) -> dict[str, str]:
    """An application, a code and tokens of it, none of which was used."""
    registered = ("http://127.0.0.1/back", BACK)
    application = make_application(client, redirect_uris=registered)
    asked = {"scope": "projects:read offline_access", "redirect_uri": LOOPBACK}
    without_pkce: dict[str, None] = {"code_challenge": None, "code_challenge_method": None}
    tokens = tokens_of(client, application)
    return {
        "CLIENT_ID": application.id,
        "CLIENT_SECRET": application.secret or "",
        "CODE": code_of(client, application, **asked, **without_pkce),
        "ACCESS_TOKEN": tokens["access_token"],
        "REFRESH_TOKEN": tokens["refresh_token"],
    }


def test_requests_are_answered_as_shown(client: Client) -> None:
    answer: TestResponse | None = None
    seen, others = 0, []
    for block in blocks(PAGE):
        if block.language == "sh":
            for words in commands(f"```sh\n{block.text}\n```"):
                if words[0] == "curl":
                    answer = send(client, words[1:], values_of(client))
                    assert answer.status_code == 200, answer.get_data(as_text=True)
        if block.language == "json":
            shown = loads(block.text.encode())
            if answer is None:
                others.append(shown)
                continue
            assert fits(shown, answer.json), (shown, answer.json)
            answer, seen = None, seen + 1
    assert seen == 6
    assert others == [NOTHING]


def test_a_token_that_is_not_good_is_told_of_as_shown(
    client: Client, stranger: Client, application: Application
) -> None:
    token = tokens_of(client, application)["access_token"]
    for asking, asked in ((application, token[:-1]), (make_application(stranger), token)):
        assert ask_token(client.app, asking, "/oauth/introspect", token=asked).json == NOTHING


@pytest.mark.parametrize(
    ("shown", "answer"),
    [
        ({"a": "x_…"}, {"a": "y_1"}),
        ({"a": "…"}, {"a": "1", "b": 2}),
        ({"a": 3600}, {"a": 60}),
        ({"a": ["b"]}, {"a": ["b", "c"]}),
    ],
)
def test_a_difference_is_seen(shown: Any, answer: Any) -> None:
    assert not fits(shown, answer)


# Numbers and words.


def in_words(time: timedelta) -> str:
    seconds = int(time.total_seconds())
    for name, length in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        if seconds % length == 0:
            number = seconds // length
            return f"{number} {name}" if number == 1 else f"{number} {name}s"
    raise AssertionError(time)


def test_lifetimes_are_the_policys() -> None:
    assert [row[1] for row in tables(section("Lifetimes"))] == [
        f"{in_words(policy.CODE_LIFE)}, one use",
        in_words(policy.ACCESS_TOKEN_LIFE),
        f"{in_words(policy.REFRESH_TOKEN_IDLE)}, one use",
        in_words(policy.REFRESH_GRACE),
        in_words(policy.AUTHORIZATION_LIFE),
    ]
    answered = " ".join(section("The response").split())
    assert f"valid once and for {in_words(policy.CODE_LIFE)}" in answered
    assert f"Within {in_words(policy.REFRESH_GRACE)}" in section("Refreshing")


def roles_of(scope: str) -> str:
    """The roles for which a scope opens what it says."""
    roles = [role for role, held in ROLES.items() if scope in held]
    return "every role" if len(roles) in (0, len(ROLES)) else ", ".join(roles)


def test_scopes_are_the_policys() -> None:
    known = [[f"`{name}`", words, roles_of(name)] for name, words in SCOPES.items()]
    assert tables(section("Scopes")) == known


def test_limits_are_the_policys() -> None:
    length = f"{policy.PARAMETER_LENGTH:,} characters"
    said = " ".join(section("Limits").split())
    assert f"at most {policy.PARAMETERS} parameters, of {length} each" in said
    assert f"{OAUTH_REJECTIONS.requests} in {WINDOW_SECONDS} seconds" in said
    day = f"{REFRESHES_PER_DAY.requests:,} in {REFRESHES_PER_DAY.seconds // 3600} hours"
    assert f"{REFRESHES.requests} in {REFRESHES.seconds} seconds and {day}" in said
    assert f"tokens from {policy.AUTHORIZATIONS_PER_CONSENT} codes" in said
    uris = (
        f"{policy.REDIRECT_URIS} redirect URIs, of up to {policy.REDIRECT_URI_LENGTH:,} characters"
    )
    assert f"up to {uris}" in section("Registering")
    assert f"more than {policy.FORM_BYTES // 1024} KiB" in section("Errors")


def test_the_redirect_uris_can_be_registered() -> None:
    shown = [row[0].strip("`") for row in tables(section("Registering"))]
    assert len(shown) == 3
    assert [redirect_uri_problem(uri) for uri in shown] == [None, None, None]


# Errors, each as it comes.


def _asked(client: Client, application: Application, **fields: str | None) -> str:
    """The error for a person who has granted the application one scope."""
    browser = consented_browser(client, application)
    return redirect_query(browser.get(authorize_url(application, **fields), follow=False))["error"]


def _denied(client: Client, application: Application) -> str:
    browser = browser_of(client)
    browser.get(authorize_url(application))
    return redirect_query(browser.submit(follow=False, press="deny"))["error"]


def _silent(client: Client, application: Application) -> str:
    page = Browser(client.app).get(authorize_url(application, prompt="none"), follow=False)
    return link_query(page)["error"]


SENT_BACK: dict[str, Callable[[Client, Application], str]] = {
    "access_denied": _denied,
    "invalid_request": lambda c, a: _asked(
        c, make_application(c, public=True), code_challenge=None
    ),
    "invalid_scope": lambda c, a: _asked(c, a, scope="bees"),
    "unsupported_response_type": lambda c, a: _asked(c, a, response_type="token"),
    "login_required": _silent,
    "consent_required": lambda c, a: _asked(c, a, prompt="none"),
    "request_not_supported": lambda c, a: _asked(c, a, request="eyJ.x.y"),
    "request_uri_not_supported": lambda c, a: _asked(c, a, request_uri="urn:x:y"),
}


def _post(client: Client, body: bytes) -> TestResponse:
    kind = "application/x-www-form-urlencoded"
    return client.app.test_client().post("/oauth/token", data=body, content_type=kind)


def _too_often(client: Client, application: Application) -> TestResponse:
    caller = client.app.test_client()
    for _ in range(OAUTH_REJECTIONS.requests):
        assert caller.post("/oauth/token", data={"a": "b"}).status_code == 400
    answer = caller.post("/oauth/token", data={"a": "b"})
    assert int(answer.headers["Retry-After"]) >= 1
    return answer


def _while(error: Exception) -> Callable[[Client, Application], TestResponse]:
    """An exchange during which something goes wrong; it uses nothing up."""

    def run(client: Client, application: Application) -> TestResponse:
        def fail(*_: object) -> None:
            raise error

        code = code_of(client, application)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("app.oauth.grants.issuing.issue_tokens", fail)
            answer = exchange(client.app, application, code)
        assert exchange(client.app, application, code).status_code == 200
        return answer

    return run


ANSWERED: dict[tuple[int, str], Callable[[Client, Application], TestResponse]] = {
    (400, "invalid_request"): lambda c, a: ask_token(c.app, a),
    (400, "invalid_grant"): lambda c, a: refresh(c.app, a, "canopy_ort_x"),
    (400, "invalid_scope"): lambda c, a: refresh(
        c.app, a, tokens_of(c, a)["refresh_token"], scope="projects:write"
    ),
    (400, "unsupported_grant_type"): lambda c, a: ask_token(c.app, a, grant_type="password"),
    (401, "invalid_client"): lambda c, a: refresh(c.app, a, "x", client_secret="x"),
    (405, "invalid_request"): lambda c, a: c.app.test_client().get("/oauth/token"),
    (413, "invalid_request"): lambda c, a: _post(c, b"a=" + b"x" * policy.FORM_BYTES),
    (429, "temporarily_unavailable"): _too_often,
    (500, "server_error"): _while(RuntimeError("broken")),
    (503, "temporarily_unavailable"): _while(OperationalError("", {}, Exception("gone"))),
}


def test_each_error_of_the_page_is_tried() -> None:
    sent_back_with, answered_with = section("Errors").split("From the endpoints")
    assert [row[0].strip("`") for row in tables(sent_back_with)] == list(SENT_BACK)
    shown = [(int(row[0]), row[1].strip("`")) for row in tables(answered_with)]
    assert shown == list(ANSWERED)


@pytest.mark.parametrize("error", SENT_BACK)
def test_people_are_sent_back_with_this_error(
    client: Client, application: Application, error: str
) -> None:
    assert SENT_BACK[error](client, application) == error


@pytest.mark.provokes(500, 503)
@pytest.mark.parametrize(("status", "error"), ANSWERED)
def test_the_endpoints_answer_this_error(
    client: Client, application: Application, status: int, error: str
) -> None:
    answer = ANSWERED[status, error](client, application)
    assert (answer.status_code, answer.json["error"]) == (status, error)
