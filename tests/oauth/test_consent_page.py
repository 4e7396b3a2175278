"""The page of consent: the way there and back, and what it says."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import pytest

from app.policy.oauth import ACCESS_TOKEN_LIFE, AUTHORIZATION_LIFE
from app.policy.permissions import SCOPES
from app.values import clock
from tests.make import (
    Application,
    Browser,
    Client,
    make_application,
)
from tests.make.browser import PASSWORD
from tests.make.oauth import exchange
from tests.oauth.support import address_of, browser_of, rows, sent_back, status_with


def _name_of(client: Client) -> str:
    return client.get("/v1/account").json["data"]["name"]


# The way there and back.


def test_the_whole_way(client: Client, application: Application) -> None:
    browser = browser_of(client)
    page = browser.get(address_of(application))
    assert page.title == "Map of Woods asks for access"
    answer = sent_back(browser.submit(page.path, press="allow"))
    assert set(answer) == {"code", "state", "iss"}
    assert answer["state"] == "xyz"
    assert answer["iss"] == client.app.config["SETTINGS"].public_url
    assert status_with(client, exchange(client.app, application, answer["code"]).json) == 200


def test_whoever_is_not_signed_in_does_so_first(client: Client, application: Application) -> None:
    browser_of(client)
    email = rows(client, "SELECT email FROM users WHERE id = :id", id=client.owner_id)[0][0]
    browser, address = Browser(client.app), address_of(application, state="a b&c=d%2Fe+ü")
    page = browser.get(address)
    assert urlsplit(page.path).path == "/login"
    assert unquote(urlsplit(page.path).query.removeprefix("next=")) == address
    page = browser.submit(email=email, password=PASSWORD)
    assert page.path == address
    assert sent_back(browser.submit(address, press="allow"))["state"] == "a b&c=d%2Fe+ü"


def test_deny_leads_back_without_a_code(client: Client, application: Application) -> None:
    browser = browser_of(client)
    page = browser.get(address_of(application))
    answer = sent_back(browser.submit(page.path, press="deny"))
    assert set(answer) == {"error", "state", "iss"}
    assert answer["error"] == "access_denied"
    assert not rows(
        client, "SELECT * FROM oauth_consents WHERE application_id = :id", id=application.id
    )


def test_a_form_leads_back_by_a_get(client: Client, application: Application) -> None:
    """A 307 would post the form to the application (RFC 9700, section 4.12)."""
    browser = browser_of(client)
    page = browser.get(address_of(application))
    assert browser.submit(page.path, press="allow").status == 303
    assert browser.get(address_of(application), follow=False).status == 302


@pytest.mark.parametrize(
    "state", ["x", "a b", "%20", "a+b", "a&b=c", "#", "ü\u202e", '"<script>', "\n\r\t", "x" * 2_000]
)
def test_the_state_comes_back_untouched(
    client: Client, application: Application, state: str
) -> None:
    browser = browser_of(client)
    page = browser.get(address_of(application, state=state))
    assert sent_back(browser.submit(page.path, press="allow"))["state"] == state
    for more in ({}, {"scope": "bees"}, {"prompt": "none"}):
        again = browser.get(address_of(application, state=state, **more), follow=False)
        assert sent_back(again)["state"] == state


@pytest.mark.parametrize("state", [None, ""])
def test_without_a_state_none_comes_back(
    client: Client, application: Application, state: str | None
) -> None:
    browser = browser_of(client)
    page = browser.get(address_of(application, state=state))
    assert set(sent_back(browser.submit(page.path, press="allow"))) == {"code", "iss"}


def test_no_cache_keeps_an_answer(client: Client, application: Application) -> None:
    browser = browser_of(client)
    page = browser.get(address_of(application))
    for answer in (page, browser.submit(page.path, press="allow"), browser.get(page.path)):
        assert answer.response.headers["Cache-Control"] == "no-store"


# What the page says.


def test_the_page_says_who_asks_for_what_where_and_until_when(
    client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)
    application = make_application(stranger, name="<b>Bees</b> & Co")
    page = browser_of(client).get(address_of(application))
    assert "<b>Bees</b> & Co asks for access" in page.text
    assert f"an application of {_name_of(stranger)}" in page.text
    assert _name_of(client) in page.text
    assert "where you are an owner" in page.text
    assert "client.example" in page.text
    for name, words in SCOPES.items():
        assert f"{words} {name}" in page.text
    assert "role" in page.text
    assert f"{moment + AUTHORIZATION_LIFE:%Y-%m-%d}" in page.text
    assert "while you are away" in page.text


def test_the_page_says_an_hour_without_offline_access(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)
    page = browser_of(client).get(address_of(application, scope="profile"))
    assert f"{moment + ACCESS_TOKEN_LIFE:%Y-%m-%d, %H:%M}" in page.text
    assert "while you are away" not in page.text


def test_yes_and_no_are_equally_plain(client: Client, application: Application) -> None:
    page = browser_of(client).get(address_of(application))
    buttons = page.form(page.path).buttons
    assert {button["value"] for button in buttons} == {"allow", "deny"}
    assert len({button.get("class") for button in buttons}) == 1


@pytest.mark.parametrize(
    ("uri", "allowed"),
    [
        ("https://client.example:8443/back", "https://client.example:8443"),
        ("http://127.0.0.1:9000/back", "http://127.0.0.1:9000"),
        ("com.example.app:/back", "com.example.app:"),
    ],
)
def test_the_form_may_lead_to_the_application_and_nowhere_else(
    client: Client, uri: str, allowed: str
) -> None:
    application = make_application(client, redirect_uris=[uri])
    page = browser_of(client).get(address_of(application))
    policy = page.response.headers["Content-Security-Policy"]
    assert f"form-action 'self' {allowed};" in policy
    assert "frame-ancestors 'none'" in policy
    assert page.response.headers["X-Frame-Options"] == "DENY"
