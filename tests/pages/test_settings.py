"""The settings of an account."""

from __future__ import annotations

from flask import Flask

from app.pages.settings.views import limits_in_words
from app.policy.plans import PLANS, Plan
from tests.exports.account_export.archives import Archive
from tests.make import Browser, Client, make_account, make_member, make_project, second_app
from tests.oauth.support import browser_of as browser_with_password
from tests.pages.support import browser_of, post, signed_in_browser
from tests.people.second_factor.support import turn_on


def test_what_the_page_says(app: Flask) -> None:
    client = make_account(app, plan="pro")
    page = browser_of(client).get("/settings")
    account = client.get("/v1/account").json["data"]
    for words in (account["id"], account["slug"], "organization", "Plan: pro"):
        assert words in page.text
    assert "25, including invitations" in page.text
    assert "300 a minute and 10,000 a day" in page.text
    assert "ask whoever runs this instance" in page.text
    assert "/ogc Copy" in page.text
    assert "/usage" in page.links
    assert "Who runs" not in page.text


def test_who_runs_the_instance(app: Flask) -> None:
    client = make_account(app)
    with second_app(
        app, support_email="help@example.org", privacy_url="https://example.org/privacy"
    ) as other:
        elsewhere = Client(other, client.account_id, client.owner_id, client.token)
        page = signed_in_browser(elsewhere, client.owner_id).get("/settings")
    assert "write to help@example.org" in page.text
    assert "https://example.org/privacy" in page.links


def test_the_account_is_renamed(client: Client, owner: Browser) -> None:
    owner.get("/settings")
    page = owner.submit("/settings", name="  Green Woods ")
    assert page.path == "/settings"
    assert "The account is called Green Woods now." in page.text
    assert client.get("/v1/account").json["data"]["name"] == "Green Woods"


def test_invalid_names(client: Client, owner: Browser) -> None:
    for name in ["", " ", "x" * 201, "a\x00"]:
        before = client.get("/v1/account").json["data"]["name"]
        owner.get("/settings")
        page = owner.submit("/settings", name=name)
        assert page.status == 422
        assert before in page.text
        assert client.get("/v1/account").json["data"]["name"] == before


def test_somebody_else_was_quicker(client: Client, owner: Browser) -> None:
    owner.get("/settings")
    client.put("/v1/account", json={"name": "Theirs"})
    page = owner.submit("/settings", name="Mine")
    assert page.status == 412
    assert "Somebody has renamed the account" in page.text
    assert "Saved now: Theirs" in page.text
    assert page.form("/settings").fields["name"] == "Mine"
    owner.submit("/settings")
    assert client.get("/v1/account").json["data"]["name"] == "Mine"


def test_a_new_project_is_no_conflict(client: Client, owner: Browser) -> None:
    owner.get("/settings")
    make_project(client)
    assert "is called Mine now" in owner.submit("/settings", name="Mine").text


def test_limits_in_words() -> None:
    assert limits_in_words(Plan(None, None, None, None)) == [
        (what, "no limit") for what in ("Members", "Area", "API requests", "Chat")
    ]
    assert limits_in_words(Plan(None, 1_000, 5, 1, 50)) == [
        ("Members", "1, including invitations"),
        ("Area", "5 ha in projects that are not archived"),
        ("API requests", "1,000 a day"),
        ("Chat", "50 questions a day"),
    ]
    assert limits_in_words(PLANS["enterprise"])[2] == ("API requests", "1,000 a minute")


def test_what_is_said_of_a_second_factor(client: Client) -> None:
    make_member(client, "viewer")
    browser = browser_with_password(client)
    refused = post(browser, "/settings/second-factor", required="yes", grace_days="7")
    assert refused.status == 409
    assert "/profile/second-factor" in refused.links
    turn_on(browser)
    for days, words in (
        ("7", "Members have 7 days to turn on a second factor."),
        ("1", "Members have 1 day to turn on a second factor."),
        ("0", "Members need a second factor now."),
    ):
        browser.get("/settings")
        page = browser.submit("/settings/second-factor", grace_days=days, required="yes")
        assert words in page.text
    assert "1 of 2 members has not turned one on: see Members ." in page.text
    page = browser.submit("/settings/second-factor", required="no")
    assert "Members no longer need a second factor." in page.text


def test_only_owners_require_it(client: Client) -> None:
    for role in ("viewer", "admin"):
        page = post(browser_of(client, role), "/settings/second-factor", required="no")
        assert page.status == 403
        assert "Only owners of the account can do this." in page.text


def test_everything_is_downloaded(client: Client, owner: Browser) -> None:
    assert "Download everything" in owner.get("/settings").text
    page = owner.submit("/settings/export")
    assert page.response.content_type == "application/octet-stream"
    manifest = Archive(page.response.get_data()).json("manifest.json")
    assert manifest["account"]["id"] == client.account_id
