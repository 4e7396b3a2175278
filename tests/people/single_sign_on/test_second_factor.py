"""Linking an identity to somebody who has a second factor here."""

from __future__ import annotations

import pytest
from flask import Flask

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Account, Membership, User
from app.policy.second_factor import CONFIRMED_FOR
from app.values import clock
from tests.make import Browser, link_in, mails_to, sign_up
from tests.make.browser import PASSWORD
from tests.people.second_factor.support import OWN, Later, give, turn_on
from tests.people.single_sign_on.fake_provider import FakeProvider
from tests.people.single_sign_on.real_provider import claims
from tests.people.single_sign_on.support import (
    actions,
    arrive,
    begin,
    entries,
    identities,
    leave,
    signed_in_as,
)

LINK = "/login/single-sign-on/link"


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    return Later(monkeypatch)


def test_the_password_alone_links_nothing(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    turn_on(sign_up(sso, person["email"]))
    browser = Browser(sso)
    token = browser.get("/login").form("/login").fields["csrf_token"]
    page = arrive(browser, woods, person)
    assert page.status == 403
    assert "has a second factor here" in page.text
    for path in (LINK, "/login/single-sign-on/mail"):
        sent = browser.send(path, csrf_token=token, password=PASSWORD)
        assert sent.status == 400  # this sign-in is over
    assert identities(sso, person["email"]) == []
    assert signed_in_as(browser) == ""
    entry = entries(sso, person["email"])[-1]
    assert (entry["action"], entry["outcome"]) == ("person.sign_in_refused", "refused")
    assert entry["changes"]["reason"] == {"from": None, "to": "second_factor"}
    assert actions(sso, person["email"]).count("person.sign_in_refused") == 1


def test_one_that_they_turn_on_meanwhile_refuses_each_way_to_link(
    sso: Flask, woods: FakeProvider
) -> None:
    person = claims()
    own, browser = sign_up(sso, person["email"]), Browser(sso)
    page = arrive(browser, woods, person)
    token = page.form(LINK).fields["csrf_token"]
    browser.send("/login/single-sign-on/mail", csrf_token=token)
    link = link_in(mails_to(sso, person["email"])[-1])
    turn_on(own)
    for page in (
        browser.send(LINK, csrf_token=token, password=PASSWORD),
        browser.send("/login/single-sign-on/mail", csrf_token=token),
        browser.send(link, csrf_token=token),
    ):
        assert (page.status, "has a second factor here" in page.text) == (403, True)
    assert (identities(sso, person["email"]), signed_in_as(browser)) == ([], "")


def test_they_are_asked_for_it_before_they_link(
    sso: Flask, woods: FakeProvider, later: Later
) -> None:
    person = claims()
    browser = sign_up(sso, person["email"])
    factor = turn_on(browser)
    later.move(CONFIRMED_FOR)
    page = browser.get(woods.sign_in(leave(browser, "/profile/sign-ins/link"), person))
    assert page.title == "Confirm that it is you"
    token = page.form(LINK).fields["csrf_token"]
    browser.send(LINK, csrf_token=token, password=PASSWORD)
    assert identities(sso, person["email"]) == []
    page = browser.submit(LINK, second_factor_code=factor.code())
    assert (page.status, page.title) == (200, "Link your sign-in")
    assert browser.submit(password=PASSWORD).path == "/profile"
    assert identities(sso, person["email"]) == [person["sub"]]


def test_they_are_asked_for_it_after_the_mailed_link(
    sso: Flask, woods: FakeProvider, later: Later
) -> None:
    person = claims()
    browser = sign_up(sso, person["email"])
    factor = turn_on(browser)
    token = browser.get("/profile").form("/profile/name").fields["csrf_token"]
    browser.get(woods.sign_in(leave(browser, "/profile/sign-ins/link"), person))
    browser.send("/login/single-sign-on/mail", csrf_token=token)
    browser.get(link_in(mails_to(sso, person["email"])[-1]))
    later.move(CONFIRMED_FOR)
    assert browser.submit().title == "Confirm that it is you"
    assert identities(sso, person["email"]) == []
    assert give(browser, value=factor.code()).path == "/profile"
    assert identities(sso, person["email"]) == [person["sub"]]


@pytest.mark.both
def test_an_account_requires_one_of_people_who_sign_in_at_the_provider(
    sso: Flask, woods: FakeProvider
) -> None:
    person = claims()
    browser = begin(sso, woods, person)
    with sso.app_context(), transaction():
        own = db.select(User.id).where(User.email == person["email"])
        joined = db.select(Membership.account_id).where(Membership.user_id.in_(own))
        account = db.session.get_one(Account, db.session.scalars(joined).one())
        account.second_factor_required_at, account.second_factor_grace_days = clock.now(), 0
    assert browser.get("/projects").path == OWN
    browser = Browser(sso)
    assert arrive(browser, woods, person, "/projects").path == OWN
    turn_on(browser)
    assert browser.get("/projects").path == "/projects"
    assert arrive(Browser(sso), woods, person, "/projects").path == "/projects"
