"""Remembered consent, and requests with ``prompt``."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from app.db.extensions import db
from app.db.transactions import transaction
from app.oauth import service
from app.oauth.applications.service import update_application
from app.policy.permissions import SCOPES
from tests.make import Application, Browser, Client, make_application, make_member
from tests.make.oauth import exchange
from tests.oauth.support import (
    authorize_url,
    browser_of,
    code_of,
    link_query,
    redirect_query,
    rows,
    second_account,
    tokens_of,
)

ALL = tuple(SCOPES)


def test_consent_is_remembered(client: Client, application: Application) -> None:
    browser = browser_of(client)
    page = browser.get(authorize_url(application))
    browser.submit(page.path, press="allow")
    again = redirect_query(browser.get(authorize_url(application), follow=False))
    assert exchange(client.app, application, again["code"]).status_code == 200
    less = browser.get(authorize_url(application, scope="profile"), follow=False)
    assert (
        exchange(client.app, application, redirect_query(less)["code"]).json["scope"] == "profile"
    )


@pytest.mark.both
def test_additional_scopes_need_consent_and_are_added(
    client: Client, application: Application
) -> None:
    browser = browser_of(client)
    for scope in ("projects:read", "profile assets:read"):
        page = browser.get(authorize_url(application, scope=scope))
        assert page.title == "Map of Woods asks for access"
        browser.submit(page.path, press="allow")
    both = browser.get(authorize_url(application, scope="assets:read projects:read"), follow=False)
    assert "code" in redirect_query(both)
    known = rows(
        client, "SELECT scopes FROM oauth_consents WHERE application_id = :id", id=application.id
    )
    assert str(known[0][0]).count(":read") == 2


def test_consent_is_per_application(client: Client, application: Application) -> None:
    browser = browser_of(client)
    browser.submit(browser.get(authorize_url(application)).path, press="allow")
    assert browser.get(authorize_url(make_application(client))).status == 200


def test_consent_is_per_person(client: Client, application: Application) -> None:
    tokens_of(client, application, ALL)
    assert browser_of(client).get(authorize_url(application), follow=False).status == 302
    member = make_member(client)
    assert browser_of(client, member.id).get(authorize_url(application)).status == 200


@pytest.mark.both
def test_with_several_accounts_ambiguous_consent_is_asked(
    client: Client, stranger: Client, application: Application
) -> None:
    """Remembered only for the current account, and if consent was given in no other one."""
    other = second_account(client, stranger)
    browser = browser_of(client)
    for account_id, works_in, sent in (
        (None, client.account_id, False),
        (client.account_id, other, False),
        (None, client.account_id, True),
        (other, client.account_id, False),
    ):
        if account_id is not None:
            page = browser.get(authorize_url(application, prompt="consent"))
            browser.submit(page.path, press="allow", account_id=account_id)
        with client.app.app_context(), transaction():
            statement = "UPDATE sessions SET current_account_id = :account WHERE user_id = :user"
            values = {"account": works_in, "user": client.owner_id}
            db.session.execute(text(statement), values)
        page = browser.get(authorize_url(application), follow=False)
        assert (page.status == 302) is sent


def _change(client: Client, application: Application, **values: Any) -> None:
    with client.app.app_context(), transaction():
        update_application(client.account_id, application.id, **values)


@pytest.mark.both
def test_an_added_redirect_uri_needs_consent(client: Client, application: Application) -> None:
    """A consent must not send codes to where they did not go when it was given."""
    browser, added = browser_of(client), "https://elsewhere.example/back"
    former = [application.redirect_uri]
    browser.submit(browser.get(authorize_url(application)).path, press="allow")
    _change(client, application, redirect_uris=[*former, added])
    again = authorize_url(application, prompt="consent")
    browser.submit(browser.get(again).path, press="allow")  # it says nothing of the added one
    elsewhere = authorize_url(application, redirect_uri=added)
    assert browser.get(elsewhere).status == 200
    silent = link_query(browser.get(f"{elsewhere}&prompt=none", follow=False), added)
    assert silent["error"] == "consent_required"
    assert "code" in redirect_query(browser.get(authorize_url(application), follow=False))
    browser.submit(browser.get(elsewhere).path, press="allow")
    for uri in (added, former[0]):
        silent = redirect_query(
            browser.get(authorize_url(application, redirect_uri=uri), follow=False), uri
        )
        assert "code" in silent


def test_other_changes_of_an_application_need_no_consent(
    client: Client, application: Application
) -> None:
    former = [application.redirect_uri]
    _change(client, application, redirect_uris=[*former, "https://other.example/back"])
    browser = browser_of(client)
    browser.submit(browser.get(authorize_url(application)).path, press="allow")
    _change(client, application, name="Map of Trees", redirect_uris=former)
    assert "code" in redirect_query(browser.get(authorize_url(application), follow=False))


def test_a_use_of_a_consent_does_not_renew_it(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redirect URI that is added while a request is answered needs consent afterwards."""
    browser, original = browser_of(client), service.has_consented
    browser.submit(browser.get(authorize_url(application)).path, press="allow")

    def then_added(*arguments: Any) -> bool:
        found = original(*arguments)
        monkeypatch.undo()
        _change(client, application, redirect_uris=["https://elsewhere.example/back"])
        return found

    monkeypatch.setattr(service, "has_consented", then_added)
    assert "code" in redirect_query(browser.get(authorize_url(application), follow=False))
    added = authorize_url(application, redirect_uri="https://elsewhere.example/back")
    assert browser.get(added).status == 200


def test_prompt_forces_the_page(client: Client, application: Application) -> None:
    tokens_of(client, application, ALL)
    browser = browser_of(client)
    for prompt in ("consent", "login", "select_account", "login consent"):
        assert browser.get(authorize_url(application, prompt=prompt)).status == 200
    assert browser.get(authorize_url(application, prompt="bees"), follow=False).status == 302


def test_prompt_none_never_shows_the_page(client: Client, application: Application) -> None:
    silent = authorize_url(application, prompt="none")
    assert link_query(Browser(client.app).get(silent))["error"] == "login_required"
    browser = browser_of(client)
    assert link_query(browser.get(silent, follow=False))["error"] == "consent_required"
    code_of(client, application, scope="profile")
    assert redirect_query(browser.get(silent, follow=False))["error"] == "consent_required"
    tokens_of(client, application, ALL)
    assert "code" in redirect_query(browser.get(silent, follow=False))
    both = authorize_url(application, prompt="none consent")
    assert redirect_query(browser.get(both, follow=False))["error"] == "invalid_request"


def test_public_native_applications_need_consent_each_time(client: Client) -> None:
    """Another program on the device could impersonate it (RFC 8252, section 8.6)."""
    browser = browser_of(client)
    for uri, public, is_asked in (
        ("http://127.0.0.1:5000/back", True, True),
        ("http://[::1]/back", True, True),
        ("com.example.notes:/back", True, True),
        ("https://client.example/back", True, False),
        ("http://127.0.0.1:5000/back", False, False),
    ):
        application = make_application(client, public=public, redirect_uris=(uri,))
        browser.submit(browser.get(authorize_url(application)).path, press="allow", follow=False)
        again = browser.get(authorize_url(application), follow=False)
        assert (again.status == 200) is is_asked, uri
        silent = browser.get(authorize_url(application, prompt="none"), follow=False)
        location = silent.response.headers["Location"]
        assert ("error=consent_required" in location) is is_asked, uri
