"""What the audit log has of single sign-on."""

from __future__ import annotations

from flask import Flask

from tests.make import Browser, make_person
from tests.make.browser import PASSWORD
from tests.people.single_sign_on.fake_provider import FakeProvider
from tests.people.single_sign_on.real_provider import claims
from tests.people.single_sign_on.support import actions, arrive, begin, entries


def test_a_new_person_and_their_sign_in(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    assert actions(sso, person["email"]) == [
        "person.created",
        "person.sign_in_linked",
        "person.signed_in",
    ]
    arrive(Browser(sso), woods, person)
    assert actions(sso, person["email"])[3:] == ["person.signed_in"]


def test_linking_and_unlinking(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    make_person(sso, person["email"])
    before = len(actions(sso, person["email"]))
    browser = Browser(sso)
    arrive(browser, woods, person)
    browser.submit(password="not that one")
    browser.submit(password=PASSWORD)
    (form,) = (form for form in browser.get("/profile").forms if form.action.endswith("/unlink"))
    browser.submit(form.action)
    found = entries(sso, person["email"])[before:]
    assert [entry["action"] for entry in found] == [
        "person.sign_in_refused",
        "person.sign_in_linked",
        "person.signed_in",
        "person.sign_in_unlinked",
    ]
    changes = {"from": None, "to": person["sub"]}
    assert found[1]["changes"]["subject"] == changes


def test_who_is_refused_and_why(sso: Flask, woods: FakeProvider) -> None:
    person = claims(email_verified=False)
    arrive(Browser(sso), woods, person)
    (entry,) = entries(sso, person["email"])
    assert entry["action"] == "person.sign_in_refused"
    assert entry["changes"]["reason"] == {"from": None, "to": "unverified"}
