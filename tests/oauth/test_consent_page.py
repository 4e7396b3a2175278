"""The consent page: the redirects to and from it, and its contents."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import pytest

from app.policy.oauth import ACCESS_TOKEN_LIFE, AUTHORIZATION_LIFE
from app.policy.permissions import SCOPES
from app.values import clock
from app.values.formats import format_in
from tests.make import (
    Application,
    Browser,
    Client,
    make_application,
    make_member,
)
from tests.make.oauth import exchange
from tests.oauth.support import api_status, authorize_url, browser_of, redirect_query, rows


def _name_of(client: Client) -> str:
    return client.get("/v1/account").json["data"]["name"]


# Redirects.


def test_complete_flow(client: Client, application: Application) -> None:
    browser = browser_of(client)
    page = browser.get(authorize_url(application))
    assert page.title == "Map of Woods asks for access"
    response = redirect_query(browser.submit(page.path, press="allow"))
    assert set(response) == {"code", "state", "iss"}
    assert response["state"] == "xyz"
    assert response["iss"] == client.app.config["SETTINGS"].public_url
    assert api_status(client, exchange(client.app, application, response["code"]).json) == 200


def test_signing_in_comes_first(client: Client, application: Application) -> None:
    email = rows(client, "SELECT email FROM users WHERE id = :id", id=client.owner_id)[0][0]
    browser, address = Browser(client.app), authorize_url(application, state="a b&c=d%2Fe+ü")
    page = browser.get(address)
    assert urlsplit(page.path).path == "/login"
    assert unquote(urlsplit(page.path).query.removeprefix("next=")) == address
    page = browser.submit(email=email, password="correct horse battery")
    assert page.path == address
    assert redirect_query(browser.submit(address, press="allow"))["state"] == "a b&c=d%2Fe+ü"


def test_the_name_of_the_account_is_isolated(client: Client, application: Application) -> None:
    """It may hold controls of direction, which would reorder the words around it."""
    client.put("/v1/account", json={"name": "Woods \u202e"})
    page = browser_of(client).get(authorize_url(application))
    main = page.response.get_data(as_text=True).partition("<h1>")[2]
    assert main.count("<bdi>Woods \u202e</bdi>") == main.count("Woods \u202e") == 3


def test_what_the_role_allows_is_listed_apart(client: Client) -> None:
    application = make_application(client, scopes=["profile", "projects:write", "offline_access"])
    viewer, editor = (make_member(client, role).id for role in ("viewer", "editor"))
    page = browser_of(client, viewer).get(authorize_url(application))
    can, _, cannot = page.text.partition("which your role does not allow")
    assert SCOPES["projects:read"] in can
    assert SCOPES["profile"] in can
    assert SCOPES["offline_access"] in can
    assert SCOPES["projects:write"] in cannot
    assert SCOPES["projects:write"] not in can
    text = browser_of(client, editor).get(authorize_url(application)).text
    assert "which your role does not allow" not in text
    assert SCOPES["projects:write"] in text
    assert SCOPES["projects:read"] not in text


def test_denying_redirects_without_a_code(client: Client, application: Application) -> None:
    browser = browser_of(client)
    page = browser.get(authorize_url(application))
    response = redirect_query(browser.submit(page.path, press="deny"))
    assert set(response) == {"error", "error_description", "state", "iss"}
    assert response["error"] == "access_denied"
    assert not rows(
        client, "SELECT * FROM oauth_consents WHERE application_id = :id", id=application.id
    )


def test_state_is_returned_unchanged(client: Client, application: Application) -> None:
    browser = browser_of(client)
    for state in ("x", "%20", "a+b&c=#", "ü\u202e", '"<script>', "\n\r\t", "x" * 2_000):
        page = browser.get(authorize_url(application, state=state, prompt="consent"))
        assert redirect_query(browser.submit(page.path, press="allow"))["state"] == state
        for more in ({}, {"scope": "bees"}, {"prompt": "none"}):
            again = browser.get(authorize_url(application, state=state, **more), follow=False)
            assert redirect_query(again)["state"] == state


def test_no_state_is_added(client: Client, application: Application) -> None:
    browser = browser_of(client)
    for state in (None, ""):
        page = browser.get(authorize_url(application, state=state, prompt="consent"))
        assert set(redirect_query(browser.submit(page.path, press="allow"))) == {"code", "iss"}


def test_responses_are_not_cached_and_redirect_with_303(
    client: Client, application: Application
) -> None:
    """A 307 would POST the form to the application (RFC 9700, section 4.12)."""
    browser = browser_of(client)
    asked = browser.get(authorize_url(application))
    allowed = browser.submit(asked.path, press="allow")
    again = browser.get(asked.path, follow=False)
    assert [page.status for page in (asked, allowed, again)] == [200, 303, 302]
    for page in (asked, allowed, again):
        assert page.response.headers["Cache-Control"] == "no-store"


# Contents.


def test_the_page_shows_application_scopes_host_and_expiry(
    client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)
    application = make_application(stranger, name="<b>Bees</b> & Co")
    page = browser_of(client).get(authorize_url(application))
    assert "<b>Bees</b> & Co asks for access" in page.text
    assert f"This application belongs to {_name_of(stranger)}" in page.text
    assert _name_of(client) in page.text
    assert "where you are an owner" in page.text
    assert "client.example" in page.text
    for name, words in SCOPES.items():
        assert f"{words} {name}" in page.text
    assert "role" in page.text
    assert f"{moment + AUTHORIZATION_LIFE:%m/%d/%Y}" in page.text
    assert "while you are away" in page.text
    buttons = page.form(page.path).buttons  # one is as prominent as the other
    assert {button["value"] for button in buttons} == {"allow", "deny"}
    assert len({button.get("class") for button in buttons}) == 1


def test_the_page_shows_an_hour_without_offline_access(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)
    page = browser_of(client).get(authorize_url(application, scope="profile"))
    assert f"{format_in('en').moment(moment + ACCESS_TOKEN_LIFE)} UTC" in page.text
    assert "while you are away" not in page.text


def test_the_form_may_end_wherever_the_application_leads(
    client: Client, application: Application
) -> None:
    browser = browser_of(client)
    page = browser.get(authorize_url(application))
    again = browser.submit(page.path)
    assert (page.status, again.status) == (200, 422)
    for shown in (page, again):
        assert not shown.has_form_action
        assert "frame-ancestors 'none'" in shown.response.headers["Content-Security-Policy"]
        assert shown.response.headers["X-Frame-Options"] == "DENY"
    for fields in ({"scope": "bees"}, {"prompt": "none"}):  # a page without a form
        assert browser.get(authorize_url(application, **fields)).has_form_action
