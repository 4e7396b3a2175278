"""The mail about a scheduled deletion leads to that account, whichever one is open."""

from __future__ import annotations

import pytest

from tests.account.deletion.support import PAGE, account_with, make_due, schedule, slug_of
from tests.make import Browser, Client, link_in, mails_to, make_member, set_password
from tests.make.browser import PASSWORD
from tests.make.members import Member
from tests.oauth.support import browser_of


@pytest.fixture
def both(client: Client, stranger: Client) -> Member:
    """An owner of two accounts, of which the first one by name is open after signing in."""
    member = make_member(client, "owner")
    make_member(stranger, "owner", email=member.email)
    return member


def by_name(*clients: Client) -> list[Client]:
    return sorted(clients, key=lambda each: str(each.get("/v1/account").json["data"]["name"]))


def scheduled_link(client: Client, email: str) -> str:
    """Schedule the deletion of an account. The link that one of its owners is mailed."""
    schedule(browser_of(client), slug_of(client))
    mails = [each for each in mails_to(client.app, email) if "will be deleted" in each["Subject"]]
    return link_in(mails[-1])


def test_another_account_is_named_and_kept(client: Client, stranger: Client, both: Member) -> None:
    first, second = by_name(client, stranger)
    link, slug = scheduled_link(second, both.email), slug_of(second)
    set_password(client, both.id)
    browser = Browser(client.app)
    browser.get(link)
    page = browser.submit(email=both.email, password=PASSWORD)
    assert page.title == "This account will be deleted"
    assert slug in page.text
    assert "Keep the account" in page.text
    assert slug_of(first) in browser.get(PAGE).text  # a GET has switched nothing
    browser.get(link)
    page = browser.submit()
    assert (page.path, "Keep the account" in page.text) == (PAGE, True)
    browser.submit(f"{PAGE}/cancel")
    assert account_with(client.app, slug).deletes_at is None


def test_the_account_that_is_open_needs_no_switch(client: Client) -> None:
    link = scheduled_link(client, owner_of(client))
    page = browser_of(client).get(link)
    assert (page.path, page.title) == (PAGE, "This account will be deleted")


def test_what_is_due_is_not_offered(client: Client, stranger: Client, both: Member) -> None:
    _, second = by_name(client, stranger)
    link, browser = scheduled_link(second, both.email), browser_of(client, both.id)
    make_due(second.app, second.account_id)
    page = browser.get(link)
    assert (page.title, "Keep" in page.text) == ("This account is being deleted", False)


def test_an_admin_is_told_who_can_cancel(client: Client) -> None:
    admin = make_member(client, "admin")
    page = browser_of(client, admin.id).get(scheduled_link(client, admin.email))
    assert page.title == "This account will be deleted"
    assert "Its owners can cancel that." in page.text
    assert "Switch" not in page.text


def test_who_is_no_member_is_told(client: Client, stranger: Client) -> None:
    link = scheduled_link(client, owner_of(client))
    page = browser_of(stranger).get(link)
    assert page.status == 404
    assert "You do not belong to this account." in page.text


def owner_of(client: Client) -> str:
    members = client.get("/v1/account/members").json["data"]
    return next(str(each["email"]) for each in members if each["id"] == client.owner_id)
