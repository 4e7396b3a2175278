"""An account that requires a second factor of its members."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.db.extensions import db
from app.models import Account
from tests.make import (
    Browser,
    Client,
    bearer,
    grant_tokens,
    make_account,
    make_application,
    make_key_of,
    make_member,
    make_service_token,
    set_password,
)
from tests.make.browser import PASSWORD
from tests.oauth.support import browser_of
from tests.pages.support import post, signed_in_browser
from tests.people.second_factor.support import APP, OWN, Factor, Later, app_of, secret_of, turn_on

WEEK = timedelta(days=7)


def require(client: Client, days: int = 7) -> Browser:
    """Have the owner require a second factor of the members. Returns their browser."""
    app_of(client.app, client.owner_id)
    browser = browser_of(client)
    browser.get("/settings")
    page = browser.submit("/settings/second-factor", required="yes", grace_days=str(days))
    assert "Required since" in page.text, page.text
    return browser


def opens(browser: Browser, path: str) -> str:
    """Where asking for a page ends."""
    return browser.get(path).path


def test_members_see_until_when_they_have_time(client: Client, later: Later) -> None:
    browser = signed_in_browser(client, make_member(client, "editor").id)
    assert "requires a second factor" not in browser.get("/projects").text
    require(client)
    for path in ("/projects", "/members", "/profile", "/accounts"):
        text = browser.get(path).text
        assert "requires a second factor" in text, path
        assert "or you will lose access until you do." in text, path
    later.move(WEEK - timedelta(minutes=1))
    assert opens(browser, "/projects") == "/projects"


def test_after_that_the_account_is_closed(client: Client, later: Later) -> None:
    browser = signed_in_browser(client, make_member(client, "admin").id)
    require(client)
    later.move(WEEK)
    for path in ("/projects", "/members", "/settings", "/welcome", "/usage", "/api-keys/new", "/"):
        assert opens(browser, path) == OWN, path
    assert browser.get("/ogc/collections", headers={"Accept": "text/html"}).status == 403
    assert post(browser, "/settings", name="Mine", was_name="x").response.headers["Location"] == OWN
    assert browser.get("/projects/map", headers={"X-Requested-With": "fetch"}).status == 403


def test_what_stays_open_is_what_leads_out(client: Client, later: Later) -> None:
    member = make_member(client, "admin")
    browser = signed_in_browser(client, member.id)
    require(client)
    later.move(WEEK)
    for path in ("/profile", "/accounts", "/applications", OWN):
        assert opens(browser, path) == path
    browser.get("/accounts")
    page = browser.submit("/accounts/leave", account_id=client.account_id)
    assert "You have left" in page.text


def test_with_a_second_factor_it_opens_again(client: Client, later: Later) -> None:
    member = make_member(client, "admin")
    set_password(client, member.id)
    browser = browser_of(client, member.id)
    require(client)
    later.move(WEEK)
    browser.get(OWN)
    assert "You cannot use this account until you turn one on ." in browser.get(OWN).text
    turn_on_asked(browser)
    assert opens(browser, "/members") == "/members"
    assert "requires a second factor" not in browser.get("/members").text


def turn_on_asked(browser: Browser) -> None:
    """Turn on a second factor after the password was asked for again."""
    browser.get(OWN)
    browser.submit(APP)
    factor = Factor(secret_of(browser.submit(APP, confirm_password=PASSWORD)))
    browser.submit(f"{APP}/confirm", code=factor.code())


def test_new_members_have_the_time_from_joining(client: Client, later: Later) -> None:
    require(client)
    later.move(3 * WEEK)
    browser = signed_in_browser(client, make_member(client, "viewer").id)
    assert opens(browser, "/projects") == "/projects"
    later.move(WEEK)
    assert opens(browser, "/projects") == OWN


def test_other_accounts_stay_open(client: Client) -> None:
    member = make_member(client, "viewer")
    require(client, days=0)
    other = make_account(client.app)
    make_member(other, "viewer", email=member.email)
    browser = signed_in_browser(client, member.id)
    assert opens(browser, "/projects") == OWN
    browser.get("/accounts")
    browser.submit("/accounts/switch", account_id=other.account_id)
    assert opens(browser, "/projects") == "/projects"


def test_access_tokens_of_applications_are_refused(client: Client, later: Later) -> None:
    member, application = make_member(client, "editor"), make_application(client)
    given = grant_tokens(client.app, application, member.id, client.account_id)
    caller, browser = bearer(client, given["access_token"]), browser_of(client, member.id)
    require(client, days=0)
    response = caller.get("/v1/projects")
    assert response.status_code == 401
    assert "requires a second factor" in response.json["error"]["message"]
    challenge = response.headers["WWW-Authenticate"]
    assert 'error="insufficient_user_authentication"' in challenge
    assert caller.get("/v1/auth/verify").json["valid"] is False
    turn_on(browser)
    assert caller.get("/v1/projects").status_code == 200


def test_keys_and_service_tokens_go_on(client: Client) -> None:
    member = make_member(client, "admin")
    key = make_key_of(client, member.id, "admin")
    token = make_service_token(client)
    require(client, days=0)
    assert key.get("/v1/projects").status_code == 200
    assert token.get("/v1/projects").status_code == 200


def test_only_who_has_one_can_require_it(client: Client) -> None:
    browser = browser_of(client)
    browser.get("/settings")
    page = browser.submit("/settings/second-factor", required="yes", grace_days="7")
    assert page.status == 409
    assert "for yourself first" in page.text


def test_it_can_be_ended(client: Client) -> None:
    member = signed_in_browser(client, make_member(client, "viewer").id)
    browser = require(client, days=0)
    browser.get("/settings")
    browser.submit("/settings/second-factor", required="no")
    assert opens(member, "/projects") == "/projects"


def test_days_out_of_bounds_are_refused(client: Client) -> None:
    app_of(client.app, client.owner_id)
    browser = browser_of(client)
    browser.get("/settings")
    for days in ("", "-1", "31", "x", "1.5", "9" * 5000):
        fields = {"required": "yes", "grace_days": days}
        assert browser.submit("/settings/second-factor", **fields).status == 422, days


@pytest.mark.both
def test_more_days_count_from_when_it_was_first_required(client: Client, later: Later) -> None:
    browser = require(client, days=1)
    member = signed_in_browser(client, make_member(client, "viewer").id)
    browser.get("/settings")
    browser.submit("/settings/second-factor", required="yes", grace_days="2")
    with client.app.app_context():
        account = db.session.get_one(Account, client.account_id)
        assert account.second_factor_grace_days == 2
    later.move(timedelta(days=1, hours=1))
    assert opens(member, "/projects") == "/projects"
    later.move(timedelta(days=1))
    assert opens(member, "/projects") == OWN


def test_owners_and_admins_see_who_has_one(client: Client) -> None:
    admin, viewer = make_member(client, "admin"), make_member(client, "viewer")
    require(client)
    page = signed_in_browser(client, admin.id).get("/members")
    assert "Second factor" in page.text
    assert "Second factor" not in signed_in_browser(client, viewer.id).get("/members").text
    one = signed_in_browser(client, admin.id).get(f"/members/{client.owner_id}")
    assert "On: signing in takes more" in one.text
