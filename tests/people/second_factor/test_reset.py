"""Resetting the second factor of somebody who has lost it."""

from __future__ import annotations

from flask import Flask

from app.db.extensions import db
from app.models import User
from tests.make import (
    Client,
    Member,
    mails_to,
    make_account,
    make_invited,
    make_member,
    make_operator,
    text_of,
)
from tests.pages.support import post, signed_in_browser
from tests.people.second_factor.support import app_of, begin, give


def member_with_factor(client: Client, role: str = "editor") -> Member:
    member = make_member(client, role)
    app_of(client.app, member.id)
    return member


def reset(client: Client, member: Member, by: str | None = None) -> int:
    """The status of the post with which somebody, by default the owner, resets it."""
    browser = signed_in_browser(client, by or client.owner_id)
    return post(browser, f"/members/{member.id}/second-factor/reset").status


def has_one(app: Flask, member: Member) -> bool:
    with app.app_context():
        return db.session.get_one(User, member.id).second_factor_since is not None


def test_an_owner_resets_it(client: Client) -> None:
    member = member_with_factor(client)
    theirs = signed_in_browser(client, member.id)
    waiting = begin(client.app, member.email)
    assert reset(client, member) == 303
    assert theirs.get("/profile").title == "Sign in"
    assert give(waiting, value="123456").path == "/login"
    assert not has_one(client.app, member)
    mail = mails_to(client.app, member.email)[-1]
    assert str(mail["Subject"]) == "Your second factor was reset on Canopy"
    assert "reset your second factor" in text_of(mail)


def test_not_of_somebody_in_an_account_of_others(client: Client) -> None:
    member = member_with_factor(client)
    other = make_account(client.app)
    make_member(other, "viewer", email=member.email)
    assert reset(client, member) == 403
    assert has_one(client.app, member)
    page = signed_in_browser(client, client.owner_id).get(f"/members/{member.id}")
    assert "You cannot reset it" in page.text


def test_not_of_an_operator_of_the_instance(client: Client) -> None:
    member = member_with_factor(client)
    make_operator(client, member.id)
    assert reset(client, member) == 403
    assert has_one(client.app, member)
    page = signed_in_browser(client, client.owner_id).get(f"/members/{member.id}")
    assert "They are an operator of this instance" in page.text


def test_an_invitation_by_others_does_not_prevent_it(client: Client) -> None:
    member = member_with_factor(client)
    make_invited(make_account(client.app), email=member.email)
    assert reset(client, member) == 303


def test_nobody_resets_their_own(client: Client) -> None:
    owner = make_member(client, "owner")
    app_of(client.app, owner.id)
    assert reset(client, owner, by=owner.id) in (200, 403)
    assert has_one(client.app, owner)


def test_not_of_a_member_of_another_account(client: Client) -> None:
    other = make_account(client.app)
    assert reset(client, member_with_factor(other)) == 404


def test_of_somebody_without_one_it_is_said_so(client: Client) -> None:
    assert reset(client, make_member(client, "viewer")) == 409
