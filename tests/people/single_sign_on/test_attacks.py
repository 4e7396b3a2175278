"""What must not sign anybody in: forged tokens, foreign returns, and what was used before."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from joserfc import jws
from joserfc.jwk import RSAKey

from app.people.single_sign_on import provider
from app.policy.rate_limits import SINGLE_SIGN_ONS
from tests.make import Browser
from tests.people.single_sign_on.fake_provider import FakeProvider, gives, shared_secret
from tests.people.single_sign_on.support import leave, seen

pytestmark = pytest.mark.provokes(503)

FAILED = (503, "You could not be signed in")
STALE = (400, "Start again")
NEW = (200, "Finish signing up")
HOUR = 3600


def arrive(sso: Flask, woods: FakeProvider, **claims: Any) -> tuple[int, str]:
    browser = Browser(sso)
    return seen(browser.get(woods.sign_in(leave(browser), **claims)))


def test_a_right_token_is_accepted(sso: Flask, woods: FakeProvider) -> None:
    assert arrive(sso, woods) == NEW
    ((_, form),) = (each for each in woods.asked if each[0] == "/token")
    assert form["grant_type"] == "authorization_code"
    assert form["redirect_uri"] == "http://127.0.0.1:8000/login/single-sign-on/callback"
    assert len(form["code_verifier"]) >= 43


def test_claims_that_are_wrong(sso: Flask, woods: FakeProvider, subtests: pytest.Subtests) -> None:
    now = int(time.time())
    cases: dict[str, dict[str, Any]] = {
        "another issuer": {"iss": "https://evil.example"},
        "no issuer": {"iss": None},
        "another audience": {"aud": "somebody-else"},
        "no audience": {"aud": None},
        "several audiences": {"aud": ["canopy", "somebody-else"]},
        "several, for somebody else": {"aud": ["canopy", "x"], "azp": "x"},
        "for somebody else": {"azp": "somebody-else"},
        "expired": {"exp": now - HOUR, "iat": now - 2 * HOUR},
        "never expires": {"exp": None},
        "of tomorrow": {"iat": now + HOUR, "nbf": now + HOUR},
        "without a time": {"iat": None},
        "of another sign-in": {"nonce": "that-of-another"},
        "without a nonce": {"nonce": None},
        "nobody": {"sub": None},
        "an empty subject": {"sub": ""},
        "a number as subject": {"sub": 17},
        "a long subject": {"sub": "x" * 256},
        "a subject that no database stores": {"sub": "a\0b"},
        "of another access token": {"at_hash": "bm90IHRoYXQgb25lIQ"},
    }
    for name, claims in cases.items():
        with subtests.test(name):
            assert arrive(sso, woods, **claims) == FAILED


def test_signatures_that_are_wrong(
    sso: Flask, woods: FakeProvider, subtests: pytest.Subtests
) -> None:
    other = RSAKey.generate_key(2048, {"kid": woods.key.kid})

    def with_another_key() -> None:
        woods.signer = other

    def with_an_unknown_key() -> None:
        woods.signer, woods.header = other, {"alg": "RS256", "kid": "unknown"}

    def with_the_shared_secret() -> None:
        woods.signer, woods.header = shared_secret(), {"alg": "HS256"}

    def unsigned() -> None:
        woods.header = {"alg": "none"}

    def without_a_token() -> None:
        woods.token = {"id_token": None}

    def with_a_number() -> None:
        woods.token = {"id_token": 17}

    def with_garbage() -> None:
        woods.token = {"id_token": "a.b.c"}

    def with_a_demand() -> None:
        woods.header |= {"crit": ["b64"], "b64": False}

    changes: list[Callable[[], None]] = [
        with_another_key, with_an_unknown_key, with_the_shared_secret, unsigned, without_a_token,
        with_a_number, with_garbage, with_a_demand,
    ]  # fmt: skip
    for change in changes:
        woods.is_right()
        change()
        with subtests.test(change.__name__):
            assert arrive(sso, woods) == FAILED
    woods.is_right()
    assert arrive(sso, woods) == NEW


def test_a_token_of_brackets_without_end(sso: Flask, woods: FakeProvider) -> None:
    text = jws.serialize_compact(woods.header, b'{"x":' + b"[" * 50_000, woods.key)
    woods.token = {"id_token": text}
    assert arrive(sso, woods) == FAILED


def test_a_new_key_is_found(sso: Flask, woods: FakeProvider) -> None:
    assert arrive(sso, woods) == NEW
    first = woods.key
    woods.key = RSAKey.generate_key(2048, {"kid": "second"})
    try:
        woods.is_right()
        assert arrive(sso, woods) == NEW
        assert [path for path, _ in woods.asked].count("/keys") == 1
        assert arrive(sso, woods) == NEW
        assert [path for path, _ in woods.asked].count("/keys") == 1  # kept
    finally:
        woods.key = first


def test_metadata_that_is_wrong(sso: Flask, woods: FakeProvider, subtests: pytest.Subtests) -> None:
    cases: dict[str, Any] = {
        "another issuer": {"issuer": "https://evil.example"},
        "nearly the issuer": {"issuer": f"{woods.issuer}/"},
        "no issuer": {"issuer": None},
        "no token endpoint": {"token_endpoint": None},
        "an unsafe endpoint": {"token_endpoint": "http://elsewhere.example/token"},
        "a script": {"authorization_endpoint": "javascript:alert(1)"},
        "no address": {"authorization_endpoint": 17},
        "an unsafe userinfo endpoint": {"userinfo_endpoint": "http://elsewhere.example/me"},
    }
    for name, changes in cases.items():
        woods.is_right()
        woods.metadata |= changes
        provider.init_app(sso)
        with subtests.test(name):
            assert seen(Browser(sso).get("/login/single-sign-on")) == FAILED


def test_a_foreign_state_is_refused(sso: Flask, woods: FakeProvider) -> None:
    """Whoever makes a browser open a return of their own signs nobody in (RFC 6749, 10.12)."""
    thief, victim = Browser(sso), Browser(sso)
    back = woods.sign_in(leave(thief))
    assert seen(victim.get(back)) == STALE  # it has asked for nothing
    leave(victim)
    assert seen(victim.get(back)) == STALE  # it has asked for something else
    assert seen(victim.get("/login/single-sign-on/callback?code=a-code")) == STALE
    assert seen(victim.get("/login/single-sign-on/callback?code=a-code&state=")) == STALE
    assert "/token" not in [path for path, _ in woods.asked]
    assert seen(thief.get(back)) == NEW


def test_a_return_is_used_once(sso: Flask, woods: FakeProvider) -> None:
    browser = Browser(sso)
    back = woods.sign_in(leave(browser))
    assert seen(browser.get(back)) == NEW
    assert seen(browser.get(back)) == STALE
    assert [path for path, _ in woods.asked].count("/token") == 1


def test_a_failed_return_is_used_as_well(sso: Flask, woods: FakeProvider) -> None:
    browser = Browser(sso)
    back = woods.sign_in(leave(browser), nonce="that-of-another")
    assert seen(browser.get(back)) == FAILED
    woods.claims = {}
    assert seen(browser.get(back)) == STALE


def test_another_provider_cannot_send_a_browser_back(sso: Flask, woods: FakeProvider) -> None:
    """RFC 9207."""
    browser = Browser(sso)
    back = woods.sign_in(leave(browser))
    assert seen(browser.get(f"{back}&iss={quote('https://evil.example', safe='')}")) == FAILED
    back = woods.sign_in(leave(browser))
    assert seen(browser.get(f"{back}&iss={quote(woods.issuer, safe='')}")) == NEW
    assert [path for path, _ in woods.asked].count("/token") == 1


def test_a_provider_that_promises_its_name_gives_it(sso: Flask, woods: FakeProvider) -> None:
    woods.metadata["authorization_response_iss_parameter_supported"] = True
    assert arrive(sso, woods) == FAILED


def test_nobody_is_led_elsewhere(sso: Flask, woods: FakeProvider) -> None:
    """All other targets: tests/people/test_sign_in.py."""
    browser = Browser(sso)
    browser.get(woods.sign_in(leave(browser, target="//evil.example"), sub="led"))
    page = browser.submit(account_name="Led", follow=False)
    assert page.response.headers["Location"] == "/welcome"
    browser.client.delete_cookie("canopy_session")
    address = woods.sign_in(leave(browser, target="//evil.example"), sub="led")
    assert browser.get(address, follow=False).response.headers["Location"] == "/"


def test_claims_of_somebody_else_are_not_taken(sso: Flask, woods: FakeProvider) -> None:
    woods.metadata["userinfo_endpoint"] = f"{woods.issuer}/me"
    woods.answers["/me"] = gives({"sub": "another", "email": "a@woods.example"})
    assert arrive(sso, woods, email=None, email_verified=None) == FAILED


def test_an_unsigned_flag_does_not_verify_a_signed_address(sso: Flask, woods: FakeProvider) -> None:
    woods.metadata["userinfo_endpoint"] = f"{woods.issuer}/me"
    others = {"email": "another@woods.example"}, {}
    for said in others:  # of another address, or of none
        woods.answers["/me"] = gives({"sub": "signed", "email_verified": True, **said})
        title = "Your email address could not be checked"
        assert arrive(sso, woods, sub="signed", email_verified=None) == (403, title)


def test_a_signed_flag_does_not_verify_an_unsigned_address(sso: Flask, woods: FakeProvider) -> None:
    woods.metadata["userinfo_endpoint"] = f"{woods.issuer}/me"
    found = {"sub": "split", "email": "split@woods.example", "email_verified": False}
    woods.answers["/me"] = gives(found)
    title = "Your email address is not verified"
    assert arrive(sso, woods, sub="split", email=None) == (403, title)


def test_what_was_wrong_once_is_read_again(sso: Flask, woods: FakeProvider) -> None:
    wrong = gives({"status": "maintenance"})
    woods.answers["/.well-known/openid-configuration"] = wrong
    assert seen(Browser(sso).get("/login/single-sign-on")) == FAILED
    woods.answers = {"/keys": wrong}
    assert arrive(sso, woods) == FAILED
    woods.answers = {}
    assert arrive(sso, woods) == NEW


def test_errors_of_the_provider_are_told(
    sso: Flask, woods: FakeProvider, subtests: pytest.Subtests
) -> None:
    for error, expected in (
        ("access_denied", (403, "You were not signed in")),
        ("server_error", FAILED),
        ("<script>alert(1)</script>", FAILED),
    ):
        with subtests.test(error):
            browser = Browser(sso)
            back = woods.sign_in(leave(browser)).replace("code=a-code", f"error={error}")
            page = browser.get(f"{back}&error_description=Call+0900+12345")
            assert seen(page) == expected
            assert "0900" not in page.text
            assert "<script>alert" not in page.response.get_data(as_text=True)


@pytest.mark.usefixtures("woods")
def test_one_client_cannot_begin_without_end(sso: Flask) -> None:
    browser = Browser(sso, address=Browser.address())
    statuses = [
        browser.get("/login/single-sign-on", follow=False).status
        for _ in range(SINGLE_SIGN_ONS.requests + 1)
    ]
    assert statuses == [303] * SINGLE_SIGN_ONS.requests + [429]
