"""Signing in and out, and throttling of attempts."""

from __future__ import annotations

import time
from datetime import timedelta
from urllib.parse import quote

import pytest
from flask import Flask
from itsdangerous import TimestampSigner
from sqlalchemy import select

from app.db.extensions import db
from app.models import User
from app.policy.people import (
    WRONG_PASSWORDS,
    WRONG_PASSWORDS_WINDOW,
)
from app.site.pages import local_path
from app.values import clock
from tests.make import make_person, new_email, second_app, sign_in
from tests.make.browser import PASSWORD, Browser

NEW = "lichen on the north side"


def attempt(app: Flask, email: str, password: str, browser: Browser | None = None) -> Browser:
    browser = browser or Browser(app)
    browser.get("/login")
    browser.submit(email=email, password=password)
    return browser


def wrong_attempts(browser: Browser, email: str, number: int) -> list[int]:
    """The statuses of so many sign-ins with a wrong password."""
    browser.get("/login")
    wrong = {"email": email, "password": "wrong horse battery"}
    return [browser.submit(**wrong).status for _ in range(number)]


def status(browser: Browser) -> int:
    assert browser.page is not None
    return browser.page.status


def test_signing_in_and_out(app: Flask, email: str) -> None:
    browser = sign_in(app, email)
    left = browser.submit("/logout", follow=False)
    assert left.response.headers["Location"] == "/login"
    assert left.response.headers["Clear-Site-Data"] == '"cache"'
    assert browser.get("/profile").title == "Sign in"


def test_a_path_in_another_script_is_led_back_to(app: Flask, email: str) -> None:
    """The header that a script reads has ASCII only, as every header."""
    browser, target = Browser(app), "/projects?search=中"
    fields = browser.get("/login").form().fields | {"email": email, "password": PASSWORD}
    address, script = f"/login?next={quote(target)}", {"HX-Request": "true"}
    for page in (browser.send(address, script, **fields), browser.get(address, headers=script)):
        assert page.response.headers["HX-Redirect"] == "/projects?search=%E4%B8%AD"


@pytest.mark.parametrize(
    ("target", "is_bound"), [("/oauth/authorize?client_id=x", False), ("/projects", True)]
)
def test_the_form_may_end_wherever_an_application_leads(
    app: Flask, email: str, target: str, is_bound: bool
) -> None:
    browser = Browser(app)
    pages = [browser.get(f"/login?next={quote(target)}")]
    for _ in range(WRONG_PASSWORDS + 1):
        pages.append(browser.submit(email=email, password=NEW))
    assert [page.status for page in pages] == [200, *[422] * WRONG_PASSWORDS, 429]
    assert {page.has_form_action for page in pages} == {is_bound}


def test_only_the_address_of_an_authorization_lets_the_form_end_elsewhere(app: Flask) -> None:
    for target in (
        "",
        "/oauth/authorized",
        "/projects?search=/oauth/authorize?",
        "//elsewhere.example/oauth/authorize",
    ):
        assert Browser(app).get(f"/login?next={quote(target)}").has_form_action, target


def test_the_case_of_an_address_does_not_matter(app: Flask, email: str) -> None:
    assert sign_in(app, email.upper())


def test_a_wrong_password_and_an_unknown_address_get_the_same_page(app: Flask, email: str) -> None:
    unknown = "x" * len(email.partition("@")[0]) + "@example.org"
    pages = [attempt(app, address, "wrong horse battery").page for address in (email, unknown)]
    texts = [page.response.get_data(as_text=True) for page in pages if page is not None]
    shown = [
        [line for line in text.replace(address, "").splitlines() if "csrf" not in line]
        for text, address in zip(texts, (email, unknown), strict=True)
    ]
    assert shown[0] == shown[1]
    assert [page.status for page in pages if page is not None] == [422, 422]


def test_an_unknown_address_costs_as_much_as_a_wrong_password(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Argon2 takes nearly all of the time, so both must call it once."""
    hashes: list[str] = []
    with app.app_context():
        hasher = app.extensions["canopy_passwords"].hasher
        app.extensions["canopy_passwords"].dummy_hash()
    verify = type(hasher).verify

    def count(self: object, known: str, password: str) -> bool:
        hashes.append(known)
        return bool(verify(self, known, password))  # type: ignore[arg-type]

    monkeypatch.setattr(type(hasher), "verify", count)
    for address in (email, new_email("nobody")):
        attempt(app, address, "wrong horse battery")
    assert len(hashes) == 2
    parameters = {known.rpartition("$")[0].rpartition("$")[0] for known in hashes}
    assert len(parameters) == 1


def test_too_many_attempts_are_rejected_even_the_right_one(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(app)
    assert wrong_attempts(browser, email, WRONG_PASSWORDS) == [422] * WRONG_PASSWORDS
    late = attempt(app, email, PASSWORD)
    assert status(late) == 429
    assert late.page is not None
    said = (
        "Too many wrong passwords for this address. Please wait 10 minutes, or set a new password"
    )
    assert f"{said} by email." in late.page.text
    assert 0 < int(late.page.response.headers["Retry-After"]) <= 600
    moment = clock.now()
    # At the end of the time, and also once the clock was set back.
    for later in (WRONG_PASSWORDS_WINDOW, -timedelta(hours=24)):
        monkeypatch.setattr(clock, "now", lambda later=later: moment + later)
        assert sign_in(app, email)


def test_unknown_addresses_are_throttled_too(app: Flask) -> None:
    found = wrong_attempts(Browser(app), new_email("nobody"), WRONG_PASSWORDS + 2)
    assert found == [422] * WRONG_PASSWORDS + [429] * 2


def test_a_stranger_does_not_lock_out_a_known_browser(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays known when a time zone is chosen."""
    own = sign_in(app, email)
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment + timedelta(minutes=1))
    own.get("/profile")
    own.submit("/profile/times", time_zone="Europe/Berlin", locale="en-US")
    own.submit("/logout")
    wrong_attempts(Browser(app), email, WRONG_PASSWORDS + 1)
    assert status(attempt(app, email, PASSWORD)) == 429
    attempt(app, email, PASSWORD, own)
    assert own.page is not None
    assert own.page.path == "/welcome"


def test_a_known_browser_is_throttled_too(app: Flask, email: str) -> None:
    own = sign_in(app, email)
    own.submit("/logout")
    found = wrong_attempts(own, email, WRONG_PASSWORDS + 2)
    assert found == [422] * WRONG_PASSWORDS + [429] * 2


def test_another_persons_browser_is_unknown(app: Flask, email: str) -> None:
    make_person(app, other := new_email("other"))
    browser = sign_in(app, other)
    browser.submit("/logout")
    wrong_attempts(Browser(app), email, WRONG_PASSWORDS)
    assert status(attempt(app, email, PASSWORD, browser)) == 429


@pytest.mark.slow
def test_a_password_is_rehashed_when_the_parameters_change(app: Flask, email: str) -> None:
    def kept() -> str:
        with app.app_context():
            return str(db.session.scalar(select(User.password_hash).where(User.email == email)))

    before = kept()
    sign_in(app, email)
    assert kept() == before
    with second_app(app, password_time_cost=2) as other:
        sign_in(other, email)
    assert "t=2" in kept()
    assert sign_in(app, email)


@pytest.mark.parametrize("target", ["/profile", "/profile?a=1", "/a//b", "/["])
def test_a_local_path_is_led_back_to(target: str) -> None:
    assert local_path(target) == target


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "//[",
        "//℀",
        "/\\evil.example/",
        "\\\\evil.example/",
        "/\r\nLocation: https://evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
        "evil.example",
        "http:/evil.example",
        "",
    ],
)
def test_another_target_is_not_led_to(target: str) -> None:
    assert local_path(target) == "/"


def test_sign_in_leads_to_no_other_site(app: Flask, email: str) -> None:
    browser, address = Browser(app), f"/login?next={quote('//evil.example/')}"
    fields = browser.get(address).form().fields | {"email": email, "password": PASSWORD}
    assert browser.send(address, **fields).response.headers["Location"] == "/"


def test_sign_in_redirects_to_the_requested_page(app: Flask, email: str) -> None:
    browser = Browser(app)
    page = browser.get("/profile?tab=1")
    assert page.title == "Sign in"
    assert browser.submit(email=email, password=PASSWORD).path == "/profile?tab=1"


def test_a_form_of_a_host_whose_clock_is_ahead_is_accepted(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, moment = Browser(app), int(time.time())
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: moment + 5)
    browser.get("/login")
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: moment)
    assert browser.submit(email=email, password=PASSWORD).status == 200
    assert browser.get("/accounts").path == "/accounts"
