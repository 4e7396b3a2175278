"""Rate limits of the OAuth endpoints, and of the page that asks for consent."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.limits import counting
from app.oauth import authorizations
from app.policy.oauth import ACCESS_TOKEN_LIFE, CODE_LIFE, REFRESH_GRACE
from app.policy.rate_limits import AUTHORIZATION_REQUESTS, OAUTH_REJECTIONS
from tests.make import Application, Browser, Client, make_application
from tests.make.oauth import code_form, exchange, refresh
from tests.oauth.support import (
    advance_clock,
    api_status,
    assert_error,
    authorize_url,
    browser_of,
    code_of,
    redirect_query,
    rows,
    tokens_of,
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


@pytest.mark.parametrize("name", ["REFRESHES", "REFRESHES_PER_DAY"])
def test_refreshes_are_limited(
    client: Client,
    stranger: Client,
    application: Application,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """Over all applications of one account, so that more of them are not more refreshes."""
    first = tokens_of(client, application)["refresh_token"]
    second = refresh(client.app, application, first)
    beside, elsewhere = make_application(client), make_application(stranger)
    monkeypatch.setattr(counting, name, getattr(counting, name)._replace(requests=1))
    token = second.json["refresh_token"]
    for own, sent in ((application, token), (beside, tokens_of(client, beside)["refresh_token"])):
        response = refresh(client.app, own, sent)
        assert_error(response, "temporarily_unavailable", 429)
        assert int(response.headers["Retry-After"]) > (60 if name == "REFRESHES_PER_DAY" else 0)
    other = tokens_of(client, elsewhere)["refresh_token"]
    assert refresh(client.app, elsewhere, other).status_code == 200
    assert refresh(client.app, application, first).get_data() == second.get_data()
    monkeypatch.undo()
    assert refresh(client.app, application, token).status_code == 200


def test_the_limit_of_refreshes_hides_no_theft(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tokens_of(client, application)["refresh_token"]
    stolen = refresh(client.app, application, old).json
    stolen = refresh(client.app, application, stolen["refresh_token"]).json
    monkeypatch.setattr(counting, "REFRESHES", counting.REFRESHES._replace(requests=1))
    advance_clock(monkeypatch, REFRESH_GRACE)
    assert_error(refresh(client.app, application, old), "invalid_grant")
    assert api_status(client, stolen) == 401


def test_new_tokens_for_a_lost_response_count(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tokens_of(client, application)["refresh_token"]
    refresh(client.app, application, old)
    advance_clock(monkeypatch, REFRESH_GRACE)
    with monkeypatch.context() as limited:
        limited.setattr(counting, "REFRESHES", counting.REFRESHES._replace(requests=1))
        assert_error(refresh(client.app, application, old), "temporarily_unavailable", 429)
    assert refresh(client.app, application, old).status_code == 200


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


@pytest.mark.both
def test_a_code_ends_the_tokens_of_the_one_that_was_used_longest_ago(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authorizations, "AUTHORIZATIONS_PER_CONSENT", 3)
    ended = tokens_of(client, application, ("projects:read",))
    advance_clock(monkeypatch, ACCESS_TOKEN_LIFE)
    found = []
    for _ in range(3):
        found.append(tokens_of(client, application))
        advance_clock(monkeypatch, timedelta(seconds=1))
    assert api_status(client, ended) == 401
    assert codes(client, application) == 3
    used = refresh(client.app, application, found[0]["refresh_token"]).json
    advance_clock(monkeypatch, timedelta(seconds=1))
    found.append(tokens_of(client, application))
    assert [api_status(client, each) for each in found] == [200, 401, 200, 200]
    assert api_status(client, used) == 200
    assert codes(client, application) == 3
