"""The chat for who is signed in, without a token."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.chat.server import ModelServer, says, wants
from tests.make import Browser, Client, make_project, new_email, sign_up


@pytest.fixture
def browser(caller: Client) -> Browser:
    email = new_email("chat")
    return sign_up(caller.app, email)


def ask(browser: Browser, **options: Any) -> TestResponse:
    return browser.client.post("/api/chat", json={"message": "How many?"}, **options)


def test_who_is_signed_in_is_answered(browser: Browser, model: ModelServer) -> None:
    model.plays(says("None yet."))
    assert ask(browser).json["data"] == {"reply": "None yet."}


def test_the_model_reads_with_the_persons_role(
    caller: Client, browser: Browser, model: ModelServer
) -> None:
    make_project(caller, name="Of somebody else")
    model.plays(wants(("list_projects", "{}")), says("None yet."))
    assert ask(browser).status_code == 200
    assert "Of somebody else" not in str(model.asked[-1].messages)


def test_another_sites_page_asks_nothing(browser: Browser, model: ModelServer) -> None:
    for name, value in (
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
    ):
        assert ask(browser, headers={name: value}).status_code == 403
    assert not model.asked


def test_a_form_cannot_ask(browser: Browser, model: ModelServer) -> None:
    """Forms of other sites send no JSON."""
    answer = browser.client.post("/api/chat", data={"message": "How many?"})
    assert answer.status_code == 415


def test_a_wrong_token_is_refused_also_where_somebody_is_signed_in(browser: Browser) -> None:
    assert ask(browser, headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_who_is_signed_out_is_refused(browser: Browser) -> None:
    browser.get("/profile")
    browser.submit("/logout")
    assert ask(browser).status_code == 401
