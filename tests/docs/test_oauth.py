"""What ``docs/oauth.md`` says: its requests are answered as it shows, and its numbers are the
policy's. Its programs are run in tests/browser/oauth, and tests/oauth has the errors."""

from __future__ import annotations

import argparse
import base64
import re
from datetime import timedelta
from string import Template
from typing import Any
from urllib.parse import urlsplit

import pytest
from werkzeug.test import TestResponse

from app.oauth.redirect_uris import redirect_uri_problem
from app.policy import oauth as policy
from app.policy.deliveries import OVERLAP_HOURS_DEFAULT, OVERLAP_HOURS_MAX
from app.policy.permissions import ROLES, SCOPES
from app.policy.rate_limits import OAUTH_REJECTIONS, REFRESHES, REFRESHES_PER_DAY, WINDOW_SECONDS
from app.values.strict_json import loads
from tests.architecture.documents import documents
from tests.docs.pages import blocks, commands
from tests.make import Application, Client, make_application
from tests.make.oauth import BACK, ask_token
from tests.oauth.support import (
    code_of,
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
    registering = " ".join(section("Registering").split())
    assert f"An account can have {policy.APPLICATIONS_PER_ACCOUNT} applications." in registering
    assert f"the former secret for {OVERLAP_HOURS_DEFAULT} hours" in registering
    assert f"`--overlap`, 0 to {OVERLAP_HOURS_MAX} hours" in registering
    assert f"more than {policy.FORM_BYTES // 1024} KiB" in section("Errors")


def test_the_redirect_uris_can_be_registered() -> None:
    shown = [row[0].strip("`") for row in tables(section("Registering"))]
    assert len(shown) == 3
    assert [redirect_uri_problem(uri) for uri in shown] == [None, None, None]
