"""Linking an identity to a person who was here before: never without their consent and a proof."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.people.single_sign_on.identities import list_identities
from app.policy.people import MAILS_AN_HOUR, WRONG_PASSWORDS
from app.policy.rate_limits import FORM_POSTS
from tests.make import (
    Browser,
    link_in,
    mails_to,
    make_person,
    second_app,
    sign_up,
    signed_in,
    text_of,
)
from tests.make.browser import PASSWORD
from tests.people.single_sign_on.fake_provider import FakeProvider
from tests.people.single_sign_on.real_provider import claims
from tests.people.single_sign_on.support import (
    arrive,
    begin,
    identities,
    leave,
    person_of,
    signed_in_as,
)

LINK = "/login/single-sign-on/link"


def test_a_known_address_is_linked_with_the_password(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    make_person(sso, person["email"])
    browser = Browser(sso)
    page = arrive(browser, woods, person, target="/accounts")
    assert page.path == LINK
    assert f"You already have a profile here with {person['email']} ." in page.text
    assert identities(sso, person["email"]) == []
    assert signed_in_as(browser) == ""
    browser.get(LINK)
    assert browser.submit(password=PASSWORD).path == "/accounts"
    assert identities(sso, person["email"]) == [person["sub"]]
    assert signed_in_as(browser) == person["email"]
    mail = mails_to(sso, person["email"])[-1]
    assert str(mail["Subject"]) == "You can now sign in with Green Woods on Canopy"
    assert person["email"] in text_of(mail)
    assert arrive(Browser(sso), woods, person).path == "/welcome"


def test_a_wrong_password_links_nothing(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    make_person(sso, person["email"])
    browser = Browser(sso)
    arrive(browser, woods, person)
    page = browser.submit(password="not that one")
    assert page.status == 422
    assert "Wrong password." in page.text
    assert "Your Canopy password" in page.text
    assert identities(sso, person["email"]) == []
    assert signed_in_as(browser) == ""


def test_guesses_count_with_those_of_the_sign_in_page(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    make_person(sso, person["email"])
    browser = Browser(sso)
    arrive(browser, woods, person)
    for _ in range(WRONG_PASSWORDS):
        browser.submit(password="not that one")
    assert browser.submit(password=PASSWORD).status == 429
    stranger = Browser(sso)
    stranger.get("/login")
    assert stranger.submit(email=person["email"], password=PASSWORD).status == 429
    assert identities(sso, person["email"]) == []


def test_somebody_without_a_password_proves_it_by_mail(sso: Flask, woods: FakeProvider) -> None:
    """As another account of theirs at the provider has the same address."""
    person = claims()
    begin(sso, woods, person)
    other, browser = claims(email=person["email"]), Browser(sso)
    page = arrive(browser, woods, other)
    assert page.path == LINK
    assert "follow a link that we email" in page.text
    page = browser.submit("/login/single-sign-on/mail")
    assert page.title == "Check your email"
    link = link_in(mails_to(sso, person["email"])[-1])
    page = browser.get(link)
    assert page.title == "Link your sign-in"
    assert identities(sso, person["email"]) == [person["sub"]]  # a GET links nothing
    assert browser.submit().path == "/welcome"
    assert identities(sso, person["email"]) == [person["sub"], other["sub"]]


def test_others_at_the_same_address_keep_nobody_from_the_link(
    sso: Flask, woods: FakeProvider
) -> None:
    person, path, address = claims(), "/login/single-sign-on/mail", Browser.address()
    begin(sso, woods, person)
    stranger, browser = Browser(sso, address), Browser(sso, address)
    token = stranger.get("/login").form().fields["csrf_token"]
    for _ in range(FORM_POSTS.requests):
        assert stranger.send(path, csrf_token=token).status == 400  # they have nothing to link
    arrive(browser, woods, claims(email=person["email"]))
    for status in [200] * FORM_POSTS.requests + [429]:
        browser.get(LINK)
        assert browser.submit(path).status == status
    other = Browser(sso, address)
    arrive(other, woods, claims(email=person["email"]))
    assert other.submit(path).status == 200
    sent = [mail for mail in mails_to(sso, person["email"]) if "Link" in str(mail["Subject"])]
    assert len(sent) == MAILS_AN_HOUR  # whoever asks for them


def test_what_two_ask_to_link_goes_to_the_first(sso: Flask, woods: FakeProvider) -> None:
    person, email = claims(), claims()["email"]
    make_person(sso, person["email"])
    other, browser = sign_up(sso, email), Browser(sso)
    other.get(woods.sign_in(leave(other, "/profile/sign-ins/link"), person))
    arrive(browser, woods, person)
    browser.submit(password=PASSWORD)
    page = other.submit(password=PASSWORD)
    assert (page.status, page.title) == (409, "This sign-in belongs to somebody else here")
    assert identities(sso, email) == []
    assert identities(sso, person["email"]) == [person["sub"]]


@pytest.mark.both
def test_the_mailed_link_works_in_the_browser_that_asked(sso: Flask, woods: FakeProvider) -> None:
    """Who makes somebody else follow it, links nothing to them."""
    person = claims()
    begin(sso, woods, person)
    thief, owner = Browser(sso), Browser(sso)
    arrive(thief, woods, claims(email=person["email"]))
    thief.submit("/login/single-sign-on/mail")
    link = link_in(mails_to(sso, person["email"])[-1])
    assert owner.get(link).title == "This link cannot be used here"
    arrive(owner, woods, claims(email=person["email"]))  # also at such a page
    assert owner.get(link).status == 404
    wrong = re.sub(r"(?<=canopy_lnk_).+", "x" * 43, link)
    assert thief.get(wrong).status == 404
    assert identities(sso, person["email"]) == [person["sub"]]


def test_a_mailed_link_works_once_and_the_last_one_only(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    browser = Browser(sso)
    arrive(browser, woods, claims(email=person["email"]))
    for _ in range(2):
        browser.get(LINK)
        browser.submit("/login/single-sign-on/mail")
    first, second = (link_in(mail) for mail in mails_to(sso, person["email"])[-2:])
    assert browser.get(first).status == 404
    assert browser.get(second).status == 200
    browser.submit()
    assert browser.get(second).status == 404


def test_the_password_is_no_proof_where_passwords_are_off(app: Flask, woods: FakeProvider) -> None:
    person = claims()
    make_person(app, person["email"])
    with second_app(app, **woods.settings, password_sign_in=False) as sso:
        browser = Browser(sso)
        page = arrive(browser, woods, person)
        fields = page.form("/login/single-sign-on/mail").fields
        page = browser.send(LINK, **fields, password=PASSWORD)
        assert identities(sso, person["email"]) == []
        browser.get(LINK)
        browser.submit("/login/single-sign-on/mail")
        browser.get(link_in(mails_to(sso, person["email"])[-1]))
        assert browser.submit().path == "/welcome"
        assert identities(sso, person["email"]) == [person["sub"]]


def test_a_signed_in_person_links_another_address(sso: Flask, woods: FakeProvider) -> None:
    email, person = claims()["email"], claims()
    browser = sign_up(sso, email)
    assert "/profile/sign-ins/link" in browser.get("/profile").links
    page = browser.get(woods.sign_in(leave(browser, "/profile/sign-ins/link"), person))
    assert page.path == LINK
    assert email in page.text
    assert person["email"] in page.text
    assert browser.submit(password=PASSWORD).path == "/profile"
    assert identities(sso, email) == [person["sub"]]
    assert person_of(sso, person["email"]) is None
    assert arrive(Browser(sso), woods, person).path == "/welcome"


def test_linking_needs_the_password_of_who_asked(sso: Flask, woods: FakeProvider) -> None:
    """A browser that was left open is not enough."""
    email, person = claims()["email"], claims()
    browser = sign_up(sso, email)
    browser.get(woods.sign_in(leave(browser, "/profile/sign-ins/link"), person))
    assert browser.submit(password="not that one").status == 422
    assert identities(sso, email) == []


def test_an_identity_of_somebody_else_stays_theirs(sso: Flask, woods: FakeProvider) -> None:
    person, email = claims(), claims()["email"]
    begin(sso, woods, person)
    browser = sign_up(sso, email)
    page = browser.get(woods.sign_in(leave(browser, "/profile/sign-ins/link"), person))
    assert (page.status, page.title) == (409, "This sign-in belongs to somebody else here")
    assert person["email"] not in page.text
    assert signed_in_as(browser) == email
    assert identities(sso, email) == []


def test_what_is_linked_already_is_said(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    browser = begin(sso, woods, person)
    page = browser.get(woods.sign_in(leave(browser, "/profile/sign-ins/link"), person))
    assert page.path == "/profile"
    assert "already linked to your profile" in page.text


@pytest.mark.both
def test_unlinking_needs_another_way_in(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    browser = begin(sso, woods, person)
    page = browser.get("/profile")
    assert not [form for form in page.forms if form.action.endswith("/unlink")]
    assert "Unlinking" not in page.text
    assert "It would protect a password, and you have none here." in page.text
    (identity,) = _ids(sso, person["email"])
    token = page.form("/logout").fields["csrf_token"]
    page = browser.send(f"/profile/sign-ins/{identity}/unlink", csrf_token=token)
    assert "only way" in browser.get("/profile").text
    assert identities(sso, person["email"]) == [person["sub"]]


@pytest.mark.both
def test_unlinking_ends_other_sessions(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    make_person(sso, person["email"])
    other = Browser(sso)
    arrive(other, woods, person)
    other.submit(password=PASSWORD)
    browser = signed_in(sso, person["email"])
    page = browser.get("/profile")
    assert "Unlinking signs you out" in page.text
    (form,) = (form for form in page.forms if form.action.endswith("/unlink"))
    page = browser.submit(form.action)
    assert "Unlinked" in page.text
    assert identities(sso, person["email"]) == []
    assert (signed_in_as(browser), signed_in_as(other)) == (person["email"], "")
    assert arrive(Browser(sso), woods, person).path == LINK


def test_nobody_unlinks_what_others_have(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    (identity,) = _ids(sso, person["email"])
    thief = sign_up(sso, claims()["email"])
    token = thief.get("/profile").form("/logout").fields["csrf_token"]
    thief.send(f"/profile/sign-ins/{identity}/unlink", csrf_token=token)
    assert identities(sso, person["email"]) == [person["sub"]]


def _ids(app: Flask, email: str) -> list[str]:
    with app.app_context():
        return [row.id for row in list_identities(person_of(app, email).id)]


def test_the_forms_may_end_wherever_an_application_leads(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    other, browser = claims(email=person["email"]), Browser(sso)
    for target, is_bound in (("/oauth/authorize?client_id=x", False), ("/accounts", True)):
        assert arrive(browser, woods, other, target).has_form_action is is_bound
        browser.submit("/login/single-sign-on/mail")
        page = browser.get(link_in(mails_to(sso, person["email"])[-1]))
        assert (page.title, page.has_form_action) == ("Link your sign-in", is_bound)
