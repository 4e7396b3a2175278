"""Signing in at a real provider: new people, known people, and where they land."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.make import Browser, new_email, second_app, sign_up
from tests.people.single_sign_on.real_provider import RealProvider, claims
from tests.people.single_sign_on.support import (
    arrive,
    begin,
    identities,
    leave,
    person_of,
    signed_in_as,
)


def test_a_new_person_consents_and_has_an_account(sso: Flask, woods: RealProvider) -> None:
    person, browser = claims(), Browser(sso)
    page = arrive(browser, woods, person)
    assert page.path == "/login/single-sign-on/new"
    assert person["email"] in page.text
    assert page.form().fields["name"] == "Ada Birch"
    assert person_of(sso, person["email"]) is None  # until they consent
    page = browser.submit(name="Ada Beech", account_name="Beech Hill")
    assert page.path == "/welcome"
    found = person_of(sso, person["email"])
    assert (found.name, found.password_hash) == ("Ada Beech", None)
    assert found.email_verified_at is not None
    assert identities(sso, person["email"]) == [person["sub"]]
    assert "Beech Hill" in browser.get("/accounts").text


def test_a_known_identity_signs_in(sso: Flask, woods: RealProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    browser = Browser(sso)
    assert arrive(browser, woods, person).path == "/welcome"
    assert signed_in_as(browser) == person["email"]


def test_a_new_address_at_the_provider_makes_no_new_person(sso: Flask, woods: RealProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    browser = Browser(sso)
    moved = person | {"email": f"new-{person['email']}"}
    assert arrive(browser, woods, moved).path == "/welcome"
    assert signed_in_as(browser) == person["email"]
    assert person_of(sso, moved["email"]) is None


def test_a_known_identity_needs_no_address(sso: Flask, woods: RealProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    for others in ({"email": None}, {"email_verified": False}, {"email": "x@elsewhere.example"}):
        assert arrive(Browser(sso), woods, claims(**person | others)).path == "/welcome"


@pytest.mark.both
def test_the_requested_page_comes_next(sso: Flask, woods: RealProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    page = arrive(Browser(sso), woods, person, target="/accounts?from=a%20mail")
    assert page.path == "/accounts?from=a%20mail"


def test_the_sign_in_page_leads_there_and_on(sso: Flask, woods: RealProvider) -> None:
    browser = Browser(sso)
    links = browser.get("/accounts").links
    (link,) = (each for each in links if each.startswith("/login/single-sign-on"))
    assert link == "/login/single-sign-on?next=/accounts"
    text = Browser(sso).get("/login").text
    assert "Sign in with Green Woods" in text
    assert "Or sign in with your Canopy password:" in text
    assert "Sign up with Green Woods" in Browser(sso).get("/register").text


def test_what_is_sent_to_the_provider(sso: Flask, woods: RealProvider) -> None:
    first, second = (leave(Browser(sso)) for _ in range(2))
    assert first.startswith(f"{woods.issuer}/auth?")
    for part in ("response_type=code", "code_challenge_method=S256", "nonce=", "state="):
        assert part in first
    assert "scope=openid+email+profile" in first or "scope=openid%20email%20profile" in first
    values = [set(address.partition("?")[2].split("&")) for address in (first, second)]
    shared = {part.partition("=")[0] for part in values[0] & values[1]}
    assert not shared & {"state", "nonce", "code_challenge"}


def test_somebody_who_is_signed_in_is_not_sent_away(sso: Flask, woods: RealProvider) -> None:
    browser = begin(sso, woods, claims())
    page = browser.get("/login/single-sign-on?next=/accounts")
    assert page.path == "/accounts"


def test_signing_out_ends_the_session_here(sso: Flask, woods: RealProvider) -> None:
    browser = begin(sso, woods, claims())
    browser.get("/accounts")
    browser.submit("/logout")
    assert signed_in_as(browser) == ""


def test_without_a_provider_there_is_nothing_of_it(app: Flask) -> None:
    assert Browser(app).get("/login/single-sign-on").status == 404
    assert "single-sign-on" not in str(Browser(app).get("/login").links)
    browser = sign_up(app, new_email("nobody"))
    assert "/profile/sign-ins/link" not in browser.get("/profile").links


@pytest.mark.parametrize(
    ("others", "title"),
    [
        ({"email_verified": False}, "Your email address is not verified"),
        ({"email_verified": None}, "Your email address is not verified"),
        ({"email_verified": "true"}, "Your email address is not verified"),
        ({"email": None}, "An email address is missing"),
        ({"email": ""}, "An email address is missing"),
        ({"email": "not an address"}, "An email address is missing"),
        ({"email": ["a@woods.example"]}, "An email address is missing"),
        ({"email": "ada@elsewhere.example"}, "This address cannot sign in here"),
        ({"email": "ada@woods.example.org"}, "This address cannot sign in here"),
        ({"email": "ada@notwoods.example"}, "This address cannot sign in here"),
    ],
)
def test_who_cannot_be_told_is_refused(
    app: Flask, woods: RealProvider, others: dict[str, object], title: str
) -> None:
    person = claims(**others)
    settings = woods.settings | {"oidc_domains": frozenset({"woods.example"})}
    with second_app(app, **settings) as sso:
        page = arrive(Browser(sso), woods, person)
        assert (page.status, page.title) == (403, title)
        if title == "This address cannot sign in here":
            domain = str(person["email"]).partition("@")[2]
            assert f"Addresses at {domain}, such as" in page.text
        assert identities(sso, str(person.get("email"))) == []


def test_the_domain_of_an_address_is_compared_without_case(app: Flask, woods: RealProvider) -> None:
    person = claims()
    person["email"] = person["email"].replace("woods.example", "WOODS.example")
    settings = woods.settings | {"oidc_domains": frozenset({"woods.example"})}
    with second_app(app, **settings) as sso:
        assert arrive(Browser(sso), woods, person).path == "/login/single-sign-on/new"


def test_the_operator_vouches_for_another_claim(app: Flask, woods: RealProvider) -> None:
    person = claims(email_verified=None)
    with second_app(app, **woods.settings, oidc_email_claim="sub") as sso:
        page = arrive(Browser(sso), woods, person | {"sub": person["email"]})
        assert page.path == "/login/single-sign-on/new"
        assert person["email"] in page.text


def test_somebody_who_cancels_is_told_so(sso: Flask, woods: RealProvider) -> None:
    page = arrive(Browser(sso), woods, None)
    assert (page.status, page.title) == (403, "You were not signed in")
    assert "/login" in page.links
