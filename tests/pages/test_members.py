"""The page of members: the list, invitations and seats."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from flask import Flask

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Mail, Membership
from app.pages.members import views
from app.values import clock
from tests.make import (
    Browser,
    Client,
    invitation_token,
    make_account,
    make_invited,
    make_member,
    new_email,
)
from tests.make.browser import Page
from tests.pages.support import browser_of, post


def test_many_members_are_paged_with_the_invited_first(
    client: Client, owner: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PER_PAGE", 2)
    invited = [make_invited(client)["email"] for _ in range(2)]
    joined = [make_member(client).email for _ in range(2)]  # and the owner
    pages = [owner.get(f"/members?page={number}") for number in (1, 2, 3)]
    found = [[email for email in (*invited, *joined) if email in page.text] for page in pages]
    assert found[0] == invited
    assert sorted(found[1] + found[2]) == sorted(joined)
    for number, page in enumerate(pages, start=1):
        assert f"Page {number} of 3" in page.text
        assert "5 people, 2 of them invited" in page.text
    assert [link for link in pages[1].links if "?page=" in link] == [
        "/members?page=1",
        "/members?page=3",
    ]
    for other, number in (("9", 3), ("0", 1), ("x", 1)):
        assert f"Page {number} of 3" in owner.get(f"/members?page={other}").text


def test_who_manages_nobody_sees_the_list_only(client: Client) -> None:
    for role in ["viewer", "editor"]:
        invited = make_invited(client)
        page = browser_of(client, role).get("/members")
        assert invited["email"] in page.text
        assert "What each role may do" in page.text
        assert not [form.action for form in page.forms if form.action.startswith("/members")]
        assert not [link for link in page.links if link.startswith("/members/")]
        assert "Email" not in page.text


def test_somebody_is_invited(client: Client, owner: Browser) -> None:
    email = new_email()
    owner.get("/members")
    page = owner.submit("/members/invite", email=email, role="viewer")
    assert page.path == "/members"
    assert f"An invitation is on its way to {email}." in page.text
    assert "Can join until" in page.text
    assert re.search(r'Can join until <time datetime="[-0-9:T.]+Z">', page.response.text)
    assert "Email is being sent" in page.text
    assert invitation_token(client, email)


def test_a_wrong_address_and_a_member_are_refused(client: Client, owner: Browser) -> None:
    owner.get("/members")
    page = owner.submit("/members/invite", email="nobody", role="viewer")
    assert page.status == 422
    assert page.form("/members/invite").fields["email"] == "nobody"
    member = make_member(client)
    page = owner.submit("/members/invite", email=member.email, role="viewer")
    assert "already" in page.text


def test_a_role_that_is_not_offered_is_refused(client: Client, owner: Browser) -> None:
    for role in ["owner", "king", ""]:
        owner.get("/members")
        page = owner.submit("/members/invite", email=new_email(), role=role)
        assert page.status == 422
        assert client.get("/v1/account/members").json["meta"]["total"] == 1


def _mail(client: Client, email: str, **values: object) -> None:
    """Set what became of the mail to an address."""
    with client.app.app_context(), transaction():
        mail = db.session.scalars(db.select(Mail).where(Mail.recipient == email)).one()
        for name, value in values.items():
            setattr(mail, name, value)


def test_what_became_of_the_mail(client: Client, owner: Browser) -> None:
    for values, words in [
        ({}, "Email is being sent"),
        ({"error": "the server is busy"}, "Email not sent yet: the server is busy."),
        ({"due_at": None, "sent_at": clock.now()}, "Email sent"),
        (
            {"due_at": None, "error": "no such mailbox"},
            "Email could not be sent: no such mailbox",
        ),
        ({"due_at": None}, "this address got too many within an hour"),
    ]:
        invited = make_invited(client)
        _mail(client, invited["email"], **values)
        assert words in owner.get("/members").text
        assert words in owner.get(f"/members/{invited['id']}").text


def test_an_invitation_that_has_ended(client: Client, owner: Browser) -> None:
    invited = make_invited(client)
    with client.app.app_context(), transaction():
        row = db.session.get_one(Membership, (client.account_id, invited["id"]))
        row.invitation_expires_at = clock.now() - timedelta(hours=1)
    page = owner.get("/members")
    assert "Ended" in page.text
    assert "Send again" in page.text


def test_an_invitation_is_sent_again(client: Client, owner: Browser) -> None:
    invited = make_invited(client, "editor")
    before = invitation_token(client, invited["email"])
    owner.get("/members")
    page = owner.submit(f"/members/{invited['id']}/invite")
    assert f"A new invitation is on its way to {invited['email']}." in page.text
    assert invitation_token(client, invited["email"]) != before
    record = client.get(f"/v1/account/members/{invited['id']}").json["data"]
    assert record["role"] == "editor"


def test_invitations_cannot_be_sent_again_and_again(client: Client, owner: Browser) -> None:
    invited = make_invited(client)
    path = f"/members/{invited['id']}/invite"
    owner._address = owner.address()
    assert [post(owner, path).status for _ in range(6)] == [303] * 5 + [429]


def test_an_invitation_is_withdrawn(client: Client, owner: Browser) -> None:
    invited = make_invited(client)
    owner.get("/members")
    page = owner.submit(f"/members/{invited['id']}/remove")
    assert f"The invitation of {invited['email']} is withdrawn." in page.text
    assert client.get("/v1/account/members").json["meta"]["total"] == 1


@pytest.fixture
def full(app: Flask) -> Client:
    """An account whose three seats are taken."""
    made = make_account(app, plan="free")
    make_member(made, "viewer")
    make_invited(made)
    return made


def _full_page(client: Client) -> tuple[Browser, Page]:
    browser = browser_of(client)
    return browser, browser.get("/members")


def test_when_all_seats_are_taken(full: Client) -> None:
    browser, page = _full_page(full)
    assert "3 of 3 seats taken, 1 of them by invited people" in page.text
    assert "All seats are taken" in page.text
    assert "withdraw an invitation" in page.text
    assert "/members/invite" not in [form.action for form in page.forms]
    page = post(browser, "/members/invite", email=new_email(), role="viewer")
    assert page.status == 422
    assert "includes 3 seats" in page.text
