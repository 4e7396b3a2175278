"""Asked again before an application may act for somebody: its tokens open the account as a key."""

from __future__ import annotations

import pytest

from app.policy.second_factor import CONFIRMED_FOR
from tests.make import Application, Client
from tests.make.browser import Page
from tests.make.oauth import exchange
from tests.oauth.support import authorize_url, browser_of, redirect_query, rows
from tests.people.second_factor.support import Later, SoftPasskey, give, options_of
from tests.people.second_factor.test_passkeys import add
from tests.people.second_factor.test_step_up import ASKED, Owner


@pytest.fixture
def owner(client: Client, later: Later) -> Owner:
    return Owner(client, later)


def allow(owner: Owner, application: Application, **fields: str) -> Page:
    page = owner.browser.get(authorize_url(application, **fields))
    return owner.browser.submit(page.path, press="allow")


def consents(owner: Owner) -> int:
    statement = "SELECT 1 FROM oauth_consents WHERE user_id = :id"
    return len(rows(owner.client, statement, id=owner.client.owner_id))


def test_access_is_given_after_the_code(owner: Owner, application: Application) -> None:
    page = allow(owner, application)
    assert (page.status, page.title) == (200, ASKED)
    assert not page.has_form_action
    page = give(owner.browser, value=owner.factor.wrong())
    assert page.status == 422
    assert not page.has_form_action
    assert consents(owner) == 0
    answer = redirect_query(give(owner.browser, value=owner.factor.code()))
    assert (answer["state"], consents(owner)) == ("xyz", 1)
    assert exchange(owner.client.app, application, answer["code"]).status_code == 200


def test_the_request_is_kept_as_it_was(owner: Owner, application: Application) -> None:
    """A question mark at its end too."""
    address = authorize_url(application, state=None) + "&state=of%20a/b=?"
    owner.browser.get(address)
    page = owner.browser.submit(address, press="allow")
    assert page.title == ASKED
    assert page.links[-1] == address  # to cancel
    answer = redirect_query(give(owner.browser, value=owner.factor.code()))
    assert answer["state"] == "of a/b=?"


def test_cancelling_leads_back_to_the_question(owner: Owner, application: Application) -> None:
    page = owner.browser.get(allow(owner, application).links[-1])
    assert page.title == "Map of Woods asks for access"
    answer = redirect_query(owner.browser.submit(page.path, press="deny"))
    assert (answer["error"], consents(owner)) == ("access_denied", 0)


def test_a_passkey_gives_access(owner: Owner, application: Application) -> None:
    allow(owner, application)
    passkey = SoftPasskey()
    give(owner.browser, value=owner.factor.code())
    add(owner.browser, passkey)
    owner.wait()
    options = options_of(allow(owner, application, prompt="consent"))
    answer = redirect_query(give(owner.browser, "passkey", passkey.signed(options)))
    assert "code" in answer


@pytest.mark.both
def test_a_remembered_consent_asks_nothing(owner: Owner, application: Application) -> None:
    allow(owner, application)
    give(owner.browser, value=owner.factor.code())
    owner.wait()
    answer = redirect_query(owner.browser.get(authorize_url(application), follow=False))
    assert "code" in answer
    assert consents(owner) == 1


def test_who_has_no_second_factor_is_not_asked(
    client: Client, application: Application, later: Later
) -> None:
    browser = browser_of(client)
    page = browser.get(authorize_url(application))
    later.move(CONFIRMED_FOR)
    assert "code" in redirect_query(browser.submit(page.path, press="allow"))
