"""Who may become a person here by signing in at the provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.db.extensions import db
from app.models import User
from app.people import mailed_links
from app.policy.rate_limits import FORM_POSTS
from tests.make import (
    Browser,
    Client,
    event_types,
    invitation_token,
    link_in,
    mails_to,
    make_account,
    make_invited,
    make_person,
    second_app,
)
from tests.make.browser import PASSWORD
from tests.people.single_sign_on.fake_provider import FakeProvider
from tests.people.single_sign_on.real_provider import claims
from tests.people.single_sign_on.support import arrive, begin, identities, person_of

NEW = "/login/single-sign-on/new"


@pytest.fixture(scope="module")
def closed(sso: Flask) -> Iterator[Flask]:
    with second_app(sso, sign_up="closed") as site:
        yield site


def test_without_an_invitation_nobody_is_made(closed: Flask, woods: FakeProvider) -> None:
    person, browser = claims(), Browser(closed)
    page = arrive(browser, woods, person)
    assert (page.status, page.title.partition(" ")[0]) == (403, "Sign-up")
    assert person["email"] in page.text
    assert browser.get(NEW).title == "Start again"
    assert person_of(closed, person["email"]) is None


def test_who_is_invited_joins(
    sso: Flask, closed: Flask, client: Client, woods: FakeProvider
) -> None:
    for site in (sso, closed):
        person, browser = claims(), Browser(site)
        make_invited(client, "editor", email=person["email"])
        page = arrive(browser, woods, person)
        assert page.path == NEW
        assert "You are invited to" in page.text
        page = browser.submit(name="Ada Birch")
        assert (page.path, page.title) == ("/invitations", "Your invitations")
        assert "You are invited to join:" in page.text
        assert "Role: editor" in page.text
        page = browser.submit()
        assert page.path == "/projects"
        assert "You are an editor" in browser.get("/accounts").text
        assert "You have no open invitations." in browser.get("/invitations").text
        assert event_types(client)[-1] == "member.joined"
        assert person_of(site, person["email"]).name == "Ada Birch"


def test_the_mailed_invitation_leads_back_to_itself(
    app: Flask, client: Client, woods: FakeProvider
) -> None:
    person = claims()
    make_invited(client, "viewer", email=person["email"])
    path = f"/invitations/{invitation_token(client, person['email'])}"
    with second_app(app, **woods.settings, sign_up="closed", password_sign_in=False) as sso:
        browser = Browser(sso)
        page = browser.get(path)
        assert "Sign in to join" in page.text
        assert not [form for form in page.forms if "password" in form.fields]
        assert arrive(browser, woods, person, target=path).path == NEW
        assert browser.submit(name="Ada").path == path
        assert browser.submit().path == "/projects"


def test_an_invitation_that_has_ended_lets_nobody_in(
    closed: Flask, client: Client, woods: FakeProvider
) -> None:
    person, browser = claims(), Browser(closed)
    record = make_invited(client, "viewer", email=person["email"])
    arrive(browser, woods, person)
    assert client.delete(f"/v1/account/members/{record['id']}").status_code == 204
    page = browser.submit(name="Ada")
    assert page.status == 403
    assert identities(closed, person["email"]) == []
    assert arrive(Browser(closed), woods, person).status == 403


def test_an_invitation_is_not_taken_by_who_guesses_its_account(
    sso: Flask, client: Client, woods: FakeProvider
) -> None:
    person, other = claims(), claims()
    make_invited(client, "viewer", email=other["email"])
    browser = begin(sso, woods, person)
    token = browser.get("/invitations").form("/logout").fields["csrf_token"]
    browser.send("/invitations", csrf_token=token, account_id=client.account_id)
    assert "viewer" not in browser.get("/accounts").text


def test_who_signed_up_this_way_is_no_stranger_elsewhere(
    sso: Flask, closed: Flask, woods: FakeProvider
) -> None:
    """They have no password, which only people did who had not joined yet."""
    person = claims()
    begin(sso, woods, person)
    assert links_of(closed, person["email"]) is not None  # may set a password by mail
    caller = make_account(closed)
    path, body = "/v1/account/members/invite", {"email": person["email"], "role": "viewer"}
    assert caller.post(path, json=body).status_code == 201
    page = Browser(closed).get(f"/invitations/{invitation_token(caller, person['email'])}")
    assert "Sign in to join" in page.text
    assert not [form for form in page.forms if "password" in form.fields]


@pytest.mark.both
def test_signing_up_with_a_password_does_not_replace_them(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    browser = Browser(sso)
    browser.get("/register")
    browser.submit(name="Eve", email=person["email"], password=PASSWORD, account_name="Eve Woods")
    mail = mails_to(sso, person["email"])[-1]
    assert str(mail["Subject"]).startswith("You already have an account")
    assert person_of(sso, person["email"]).name == "Ada Birch"


def test_they_can_have_a_password_besides(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    browser = begin(sso, woods, person)
    assert "You have no password here" in browser.get("/profile").text
    browser.get("/forgot-password")
    browser.submit(email=person["email"])
    browser.get(link_in(mails_to(sso, person["email"])[-1]))
    browser.submit(password=PASSWORD)
    assert browser.get("/profile").form("/profile/password")
    assert identities(sso, person["email"]) == [person["sub"]]


@pytest.mark.both
def test_two_browsers_make_one_person(sso: Flask, woods: FakeProvider) -> None:
    person, browsers = claims(), [Browser(sso), Browser(sso)]
    for browser in browsers:
        arrive(browser, woods, person)
    pages = [browser.submit(account_name=f"{person['sub']} woods") for browser in browsers]
    assert [page.path for page in pages] == ["/welcome", NEW]
    assert pages[1].title == "Start again"
    with sso.app_context():
        same = select(func.count()).where(User.email == person["email"])
        assert db.session.scalar(same) == 1


def test_the_form_may_end_wherever_an_application_leads(sso: Flask, woods: FakeProvider) -> None:
    browser = Browser(sso)
    page = arrive(browser, woods, claims(), "/oauth/authorize?client_id=x")
    again = browser.submit(account_name="")
    assert (page.path, page.status, again.status) == (NEW, 200, 422)
    assert {page.has_form_action, again.has_form_action} == {False}


def test_consent_is_given_once(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    browser = begin(sso, woods, person)
    assert browser.get(NEW).title == "Start again"
    assert browser.get("/login/single-sign-on/link").title == "Start again"


def test_colleagues_at_one_address_all_sign_up(sso: Flask, woods: FakeProvider) -> None:
    address = Browser.address()
    for number in range(FORM_POSTS.requests + 1):
        browser = Browser(sso, address)
        arrive(browser, woods, claims())
        page = browser.submit(account_name=f"Woods of colleague {number}")
        assert page.path == "/welcome", page.text


def test_a_person_is_not_made_of_somebody_who_signed_up_meanwhile(
    sso: Flask, woods: FakeProvider
) -> None:
    person, browser = claims(), Browser(sso)
    arrive(browser, woods, person)
    make_person(sso, person["email"])
    page = browser.submit(account_name="Taken")
    assert page.title == "Start again"
    assert identities(sso, person["email"]) == []
    assert arrive(browser, woods, person).path == "/login/single-sign-on/link"


def test_the_name_is_one_that_can_be_stored(sso: Flask, woods: FakeProvider) -> None:
    for name, shown in (("x" * 500, "x" * 200), ("  ", ""), (None, ""), ("a\0b", "")):
        person = claims(name=name)
        page = arrive(Browser(sso), woods, person)
        assert page.form().fields["name"] == (shown or person["email"].partition("@")[0])


def links_of(app: Flask, email: str) -> Any:
    with app.app_context():
        return mailed_links.resolve_reset_mail(email, {})


def test_consent_needs_a_sign_in_before(sso: Flask) -> None:
    for path in (NEW, "/login/single-sign-on/link"):
        page = Browser(sso).get(path)
        assert (page.status, page.title) == (400, "Start again")
