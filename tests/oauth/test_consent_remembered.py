"""Consent that was given before, and requests that ask for it anew, or not at all."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from app.db.extensions import db
from app.policy.permissions import SCOPES
from tests.make import (
    Application,
    Browser,
    Client,
    make_application,
    make_member,
)
from tests.make.oauth import exchange
from tests.oauth.support import address_of, browser_of, rows, sent_back, tokens_of

ALL = tuple(SCOPES)


def _second_account(client: Client, stranger: Client) -> str:
    """Let the owner of ``client`` be a viewer of the other account too; its id."""
    email = rows(client, "SELECT email FROM users WHERE id = :id", id=client.owner_id)[0][0]
    make_member(stranger, "viewer", email=email)
    return stranger.account_id


def test_what_was_allowed_is_not_asked_again(client: Client, application: Application) -> None:
    browser = browser_of(client)
    page = browser.get(address_of(application))
    browser.submit(page.path, press="allow")
    again = sent_back(browser.get(address_of(application), follow=False))
    assert exchange(client.app, application, again["code"]).status_code == 200
    less = browser.get(address_of(application, scope="profile"), follow=False)
    assert exchange(client.app, application, sent_back(less)["code"]).json["scope"] == "profile"


def test_more_is_asked_again_and_remembered_with_the_rest(
    client: Client, application: Application
) -> None:
    browser = browser_of(client)
    for scope in ("projects:read", "profile assets:read"):
        page = browser.get(address_of(application, scope=scope))
        assert page.title == "Map of Woods asks for access"
        browser.submit(page.path, press="allow")
    both = browser.get(address_of(application, scope="assets:read projects:read"), follow=False)
    assert "code" in sent_back(both)
    known = rows(
        client, "SELECT scopes FROM oauth_consents WHERE application_id = :id", id=application.id
    )
    assert str(known[0][0]).count(":read") == 2


def test_no_is_not_remembered(client: Client, application: Application) -> None:
    browser = browser_of(client)
    for _ in range(2):
        page = browser.get(address_of(application))
        assert page.status == 200
        browser.submit(page.path, press="deny")


def test_another_application_is_asked_for(client: Client, application: Application) -> None:
    browser = browser_of(client)
    browser.submit(browser.get(address_of(application)).path, press="allow")
    assert browser.get(address_of(make_application(client))).status == 200


def test_another_person_is_asked(client: Client, application: Application) -> None:
    tokens_of(client, application, ALL)
    assert browser_of(client).get(address_of(application), follow=False).status == 302
    member = make_member(client)
    assert browser_of(client, member.id).get(address_of(application)).status == 200


def test_with_several_accounts_what_is_not_certain_is_asked(
    client: Client, stranger: Client, application: Application
) -> None:
    """Only for the account that the person works in, and when it is the only one allowed."""
    other = _second_account(client, stranger)
    browser = browser_of(client)
    for account_id, works_in, sent in (
        (None, client.account_id, False),
        (client.account_id, other, False),
        (None, client.account_id, True),
        (other, client.account_id, False),
    ):
        if account_id is not None:
            page = browser.get(address_of(application, prompt="consent"))
            browser.submit(page.path, press="allow", account_id=account_id)
        with client.app.app_context():
            statement = "UPDATE sessions SET current_account_id = :account WHERE user_id = :user"
            values = {"account": works_in, "user": client.owner_id}
            db.session.execute(text(statement), values)
            db.session.commit()
        page = browser.get(address_of(application), follow=False)
        assert (page.status == 302) is sent


@pytest.mark.parametrize("prompt", ["consent", "login", "select_account", "login consent"])
def test_prompt_asks_anew(client: Client, application: Application, prompt: str) -> None:
    tokens_of(client, application, ALL)
    browser = browser_of(client)
    assert browser.get(address_of(application, prompt=prompt)).status == 200
    assert browser.get(address_of(application, prompt="bees"), follow=False).status == 302


def test_prompt_none_asks_nothing(client: Client, application: Application) -> None:
    silent = address_of(application, prompt="none")
    assert sent_back(Browser(client.app).get(silent))["error"] == "login_required"
    browser = browser_of(client)
    assert sent_back(browser.get(silent, follow=False))["error"] == "consent_required"
    tokens_of(client, application, ALL)
    assert "code" in sent_back(browser.get(silent, follow=False))
    both = address_of(application, prompt="none consent")
    assert sent_back(browser.get(both, follow=False))["error"] == "invalid_request"


@pytest.mark.parametrize(
    ("uri", "public", "is_asked"),
    [
        ("http://127.0.0.1:5000/back", True, True),
        ("http://[::1]/back", True, True),
        ("com.example.notes:/back", True, True),
        ("https://client.example/back", True, False),
        ("http://127.0.0.1:5000/back", False, False),
    ],
)
def test_a_program_that_cannot_prove_who_it_is_is_asked_for_each_time(
    client: Client, uri: str, public: bool, is_asked: bool
) -> None:
    """Another one on the device could pose as it, on another port (RFC 8252, section 8.6)."""
    application = make_application(client, public=public, redirect_uris=(uri,))
    browser = browser_of(client)
    browser.submit(browser.get(address_of(application)).path, press="allow", follow=False)
    again = browser.get(address_of(application), follow=False)
    assert (again.status == 200) is is_asked
    silent = browser.get(address_of(application, prompt="none"), follow=False)
    location = silent.response.headers["Location"]
    assert ("error=consent_required" in location) is is_asked
