"""Signing in at a real provider: new people, known people, and where they land."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.people.single_sign_on.provider import CALLBACK
from tests.make import Browser, new_email, second_app, sign_up
from tests.people.single_sign_on.fake_provider import FakeProvider, gives
from tests.people.single_sign_on.real_provider import RealProvider, claims, real_provider
from tests.people.single_sign_on.support import (
    arrive,
    begin,
    identities,
    leave,
    person_of,
    signed_in_as,
)


@pytest.fixture(scope="module")
def real(scratch: Path) -> Iterator[RealProvider]:
    """A real provider; the instances of the tests have the default address."""
    with real_provider(scratch / "oidc", f"http://127.0.0.1:8000{CALLBACK}") as server:
        yield server


@pytest.mark.both
def test_a_real_provider(app: Flask, real: RealProvider) -> None:
    with second_app(app, **real.settings) as site:
        person = claims()
        begin(site, real, person)
        browser = Browser(site)
        assert (
            arrive(browser, real, person, target="/accounts?from=a%20mail").title == "Your accounts"
        )
        assert signed_in_as(browser) == person["email"]
        page = arrive(Browser(site), real, None)
        assert (page.status, page.title) == (403, "You were not signed in")
        assert "/login" in page.links


def test_a_new_person_consents_and_has_an_account(sso: Flask, woods: FakeProvider) -> None:
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


def test_a_new_address_at_the_provider_makes_no_new_person(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    browser = Browser(sso)
    moved = person | {"email": f"new-{person['email']}"}
    assert arrive(browser, woods, moved).path == "/welcome"
    assert signed_in_as(browser) == person["email"]
    assert person_of(sso, moved["email"]) is None


def test_a_known_identity_needs_no_address(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    for others in ({"email": None}, {"email_verified": False}, {"email": "x@elsewhere.example"}):
        assert arrive(Browser(sso), woods, claims(**person | others)).path == "/welcome"


def test_the_requested_page_comes_next(sso: Flask, woods: FakeProvider) -> None:
    person = claims()
    begin(sso, woods, person)
    page = arrive(Browser(sso), woods, person, target="/accounts?from=a%20mail")
    assert page.path == "/accounts?from=a%20mail"


def test_the_sign_in_page_leads_there_and_on(sso: Flask, woods: FakeProvider) -> None:
    browser = Browser(sso)
    links = browser.get("/accounts").links
    (link,) = (each for each in links if each.startswith("/login/single-sign-on"))
    assert link == "/login/single-sign-on?next=/accounts"
    text = Browser(sso).get("/login").text
    assert "Sign in with Green Woods" in text
    assert "Or sign in with your Canopy password:" in text
    assert "Sign up with Green Woods" in Browser(sso).get("/register").text


def test_what_is_sent_to_the_provider(sso: Flask, woods: FakeProvider) -> None:
    first, second = (leave(Browser(sso)) for _ in range(2))
    assert first.startswith(f"{woods.issuer}/auth?")
    for part in ("response_type=code", "code_challenge_method=S256", "nonce=", "state="):
        assert part in first
    assert "scope=openid+email+profile" in first or "scope=openid%20email%20profile" in first
    values = [set(address.partition("?")[2].split("&")) for address in (first, second)]
    shared = {part.partition("=")[0] for part in values[0] & values[1]}
    assert not shared & {"state", "nonce", "code_challenge"}


def test_somebody_who_is_signed_in_is_not_sent_away(sso: Flask, woods: FakeProvider) -> None:
    browser = begin(sso, woods, claims())
    page = browser.get("/login/single-sign-on?next=/accounts")
    assert page.path == "/accounts"


def test_without_a_provider_there_is_nothing_of_it(app: Flask) -> None:
    assert Browser(app).get("/login/single-sign-on").status == 404
    assert "single-sign-on" not in str(Browser(app).get("/login").links)
    browser = sign_up(app, new_email("nobody"))
    assert "/profile/sign-ins/link" not in browser.get("/profile").links


def test_who_cannot_be_told_is_refused(
    sso: Flask, woods: FakeProvider, subtests: pytest.Subtests
) -> None:
    """The page says what the provider said, and nothing that it did not."""
    missing, unclear = "An email address is missing", "Your email address could not be checked"
    unverified, no_address = "Your email address is not verified", "instead of an email address"
    for others, title, told in (
        ({"email_verified": False}, unverified, "has not verified"),
        ({"email_verified": "False"}, unverified, "has not verified"),
        ({"email_verified": None}, unclear, "the claim “email_verified” is missing"),
        ({"email_verified": "yes"}, unclear, "“email_verified” is “yes” instead of true or false"),
        ({"email_verified": 7}, unclear, "“email_verified” is 7 instead of true or false"),
        ({"email_verified": [True]}, unclear, "“email_verified” is a list instead of true"),
        ({"email": None}, missing, "the claim “email” is missing"),
        ({"email": ""}, missing, "the claim “email” is missing"),
        ({"email": "not an address"}, unclear, f"“not an address” {no_address}"),
        ({"email": ["a@woods.example", "b@woods.example"]}, unclear, f"is a list {no_address}"),
        ({"email": {"value": "a@woods.example"}}, unclear, f"is an object {no_address}"),
    ):
        with subtests.test(str(others)):
            person = claims(**others)
            page = arrive(Browser(sso), woods, person)
            assert (page.status, page.title) == (403, title)
            assert told in page.text
            assert identities(sso, str(person.get("email"))) == []


def test_what_plainly_means_the_same_is_taken(
    sso: Flask, woods: FakeProvider, subtests: pytest.Subtests
) -> None:
    """As Cognito, Apple and Azure AD B2C write it."""
    for flag in ("true", "True", 1):
        with subtests.test(repr(flag)):
            page = arrive(Browser(sso), woods, claims(email_verified=flag))
            assert page.path == "/login/single-sign-on/new"
    person = claims()
    page = arrive(Browser(sso), woods, person | {"email": [person["email"]]})
    assert page.path == "/login/single-sign-on/new"
    assert person["email"] in page.text


def test_the_userinfo_endpoint_is_asked_for_whatever_is_missing(
    sso: Flask, woods: FakeProvider, subtests: pytest.Subtests
) -> None:
    """OpenID Connect Core 1.0, section 5.4: with a code, it has the claims of the scopes."""
    woods.metadata["userinfo_endpoint"] = f"{woods.issuer}/me"
    for left_out in (
        *(("email",), ("email_verified",), ("name",), ("email_verified", "name")),
        ("email", "email_verified", "name"),
    ):
        with subtests.test(" ".join(left_out)):
            person = claims()
            woods.answers["/me"] = gives(person | {"email_verified": "true"})
            page = arrive(Browser(sso), woods, person | dict.fromkeys(left_out))
            assert page.path == "/login/single-sign-on/new"
            assert person["email"] in page.text
            assert page.form().fields["name"] == person["name"]
    with subtests.test("nothing is missing, or only the name"):
        woods.answers["/me"] = gives({"sub": "another"})
        assert arrive(Browser(sso), woods, claims()).path == "/login/single-sign-on/new"
        page = arrive(Browser(sso), woods, claims(name=None))
        assert page.path == "/login/single-sign-on/new"


def test_addresses_of_other_domains_are_refused(sso: Flask, woods: FakeProvider) -> None:
    with second_app(sso, oidc_domains=frozenset({"woods.example"})) as site:
        for domain in ("elsewhere.example", "woods.example.org", "notwoods.example"):
            page = arrive(Browser(site), woods, claims(email=f"ada@{domain}"))
            assert (page.status, page.title) == (403, "This address cannot sign in here")
            assert f"Addresses at {domain}, such as" in page.text
        person = claims()
        person["email"] = person["email"].replace("woods.example", "WOODS.example")
        assert arrive(Browser(site), woods, person).path == "/login/single-sign-on/new"


def test_the_operator_vouches_for_another_claim(sso: Flask, woods: FakeProvider) -> None:
    person = claims(email_verified=None)
    with second_app(sso, oidc_email_claim="sub") as site:
        page = arrive(Browser(site), woods, person | {"sub": person["email"]})
        assert page.path == "/login/single-sign-on/new"
        assert person["email"] in page.text
