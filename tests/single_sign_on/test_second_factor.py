"""Linking an identity to somebody who has a second factor here."""

from __future__ import annotations

from flask import Flask

from tests.make import Browser, sign_up
from tests.make.browser import PASSWORD
from tests.second_factor.support import turn_on
from tests.single_sign_on.real_provider import RealProvider, claims
from tests.single_sign_on.support import arrive, identities, leave, signed_in_as

LINK = "/login/single-sign-on/link"


def test_the_password_alone_links_nothing(sso: Flask, woods: RealProvider) -> None:
    person = claims()
    turn_on(sign_up(sso, person["email"]))
    browser = Browser(sso)
    token = browser.get("/login").form("/login").fields["csrf_token"]
    page = arrive(browser, woods, person)
    assert page.status == 403
    assert "has a second factor here" in page.text
    for path in (LINK, "/login/single-sign-on/mail"):
        sent = browser.send(path, csrf_token=token, password=PASSWORD)
        assert sent.status == 403
    assert identities(sso, person["email"]) == []
    assert signed_in_as(browser) == ""


def test_they_link_it_on_their_profile(sso: Flask, woods: RealProvider) -> None:
    person = claims()
    browser = sign_up(sso, person["email"])
    turn_on(browser)
    browser.get(woods.sign_in(leave(browser, "/profile/sign-ins/link"), person))
    assert browser.submit(password=PASSWORD).path == "/profile"
    assert identities(sso, person["email"]) == [person["sub"]]
