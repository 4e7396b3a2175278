"""Rate limits of the OAuth endpoints, and of the page that asks for consent."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.policy.limits import AUTHORIZATION_REQUESTS, OAUTH_REJECTIONS
from app.policy.oauth import CODE_LIFE
from tests.make import Application, Browser, Client, make_application, second_app
from tests.make.oauth import code_form, exchange, refresh
from tests.oauth.support import (
    advance_clock,
    assert_error,
    authorize_url,
    browser_of,
    code_of,
    redirect_query,
    rows,
)


def test_errors_per_address_are_limited(client: Client, application: Application) -> None:
    caller = client.app.test_client()
    form = application.proof | {"client_secret": "wrong", "grant_type": "refresh_token"}
    for left in reversed(range(OAUTH_REJECTIONS.requests)):
        response = caller.post("/oauth/token", data=form)
        assert_error(response, "invalid_client", 401)
        assert response.headers["X-RateLimit-Remaining"] == str(left)
    response = caller.post("/oauth/introspect", data={"token": "x"})
    assert_error(response, "temporarily_unavailable", 429)
    assert 1 <= int(response.headers["Retry-After"]) <= 60
    good = code_form(application, code_of(client, application)) | application.proof
    assert caller.post("/oauth/token", data=good).status_code == 200
    assert client.app.test_client().post("/oauth/token", data=form).status_code == 401


def test_authenticated_applications_are_not_limited(
    client: Client, application: Application
) -> None:
    """One server may refresh for many people, whose tokens may all have expired."""
    caller = client.app.test_client()
    form = application.proof | {"grant_type": "refresh_token", "refresh_token": "canopy_ort_x"}
    for _ in range(OAUTH_REJECTIONS.requests + 5):
        response = caller.post("/oauth/token", data=form)
        assert_error(response, "invalid_grant")
        assert "X-RateLimit-Limit" not in response.headers


def test_errors_of_public_applications_are_counted(client: Client) -> None:
    public = make_application(client, public=True)
    response = refresh(client.app, public, "canopy_ort_x")
    assert response.headers["X-RateLimit-Remaining"] == str(OAUTH_REJECTIONS.requests - 1)


def test_limits_can_be_disabled(client: Client) -> None:
    with second_app(client.app, rate_limit_disabled=True) as app:
        caller = app.test_client()
        for _ in range(OAUTH_REJECTIONS.requests + 2):
            assert caller.post("/oauth/token", data={"client_id": "x"}).status_code == 400


def codes(client: Client, application: Application) -> int:
    """How many codes are stored that were given to an application."""
    statement = "SELECT count(*) FROM oauth_authorizations WHERE application_id = :id"
    return int(rows(client, statement, id=application.id)[0][0])


def consented(client: Client, application: Application) -> Browser:
    """A browser whose person has consented, so that it is sent back at once."""
    browser = browser_of(client)
    browser.submit(browser.get(authorize_url(application)).path, press="allow", follow=False)
    return browser


@pytest.mark.slow
def test_authorization_requests_are_limited(client: Client, application: Application) -> None:
    browser = consented(client, application)
    browser._address = Browser.address()
    url = authorize_url(application)
    found = [browser.get(url, follow=False) for _ in range(AUTHORIZATION_REQUESTS.requests + 2)]
    assert [page.status for page in found] == [302] * AUTHORIZATION_REQUESTS.requests + [429] * 2
    assert found[-1].title == "Too many attempts"
    assert 1 <= int(found[-1].response.headers["Retry-After"]) <= 60
    assert codes(client, application) == AUTHORIZATION_REQUESTS.requests + 1
    stranger = Browser(client.app, browser._address)
    assert stranger.get(url, follow=False).status == 303


@pytest.mark.slow
def test_people_behind_one_address_are_limited_apart(
    client: Client, stranger: Client, application: Application
) -> None:
    address, url = Browser.address(), authorize_url(application)
    one, other = browser_of(client), browser_of(stranger)
    one._address = other._address = address
    for _ in range(AUTHORIZATION_REQUESTS.requests):
        one.get(url)
    assert one.get(url).status == 429
    assert other.get(url).status == 200


@pytest.mark.slow
def test_answers_to_the_consent_page_count_too(client: Client, application: Application) -> None:
    browser = browser_of(client)
    browser._address = Browser.address()
    path = browser.get(authorize_url(application)).path
    found = [
        browser.submit(path, press="allow", follow=False).status
        for _ in range(AUTHORIZATION_REQUESTS.requests)
    ]
    assert found == [303] * (AUTHORIZATION_REQUESTS.requests - 1) + [429]


def test_codes_that_were_never_used_do_not_pile_up(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = consented(client, application)
    url = authorize_url(application)
    used = redirect_query(browser.get(url, follow=False))["code"]
    assert exchange(client.app, application, used).status_code == 200
    for _ in range(4):
        browser.get(url, follow=False)
    assert codes(client, application) == 6
    advance_clock(monkeypatch, CODE_LIFE + timedelta(seconds=1))
    last = redirect_query(browser.get(url, follow=False))["code"]
    assert codes(client, application) == 2  # the one that was used, and the new one
    assert exchange(client.app, application, last).status_code == 200


def test_two_tabs_can_ask_at_once(client: Client, application: Application) -> None:
    browser = consented(client, application)
    asked = [browser.get(authorize_url(application), follow=False) for _ in range(2)]
    for page in asked:
        code = redirect_query(page)["code"]
        assert exchange(client.app, application, code).status_code == 200
