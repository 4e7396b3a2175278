"""Requests that run while a password changes, and limits on expensive requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from marshmallow import ValidationError
from sqlalchemy import select

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import SignUp, User
from app.people import service
from app.security import passwords
from app.security.passwords import hash_password, password_problem
from app.values.schemas import Email
from tests.make import Browser, link_in, mails_to, new_email, sign_in, signed_in, together
from tests.make.browser import PASSWORD

NEW = "lichen on the north side"


def reset(app: Flask, email: str, password: str) -> None:
    """Reset a password with a mailed link."""
    with app.app_context(), transaction():
        found = db.session.scalars(select(User).where(User.email == email)).one()
        service.set_password(found.id, hash_password(password), address="")


def while_compared(
    monkeypatch: pytest.MonkeyPatch, module: str, change: Callable[[], None]
) -> None:
    """Run ``change`` right after a password was compared, before the result is used."""

    def verify(known: str | None, password: str) -> bool:
        right = passwords.verify_password(known, password)
        monkeypatch.undo()
        change()
        return right

    monkeypatch.setattr(f"{module}.verify_password", verify)


def test_the_old_password_is_invalid_after_a_concurrent_reset(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(app)
    browser.get("/login")
    while_compared(monkeypatch, "app.people.passwords", lambda: reset(app, email, NEW))
    assert browser.submit(email=email, password=PASSWORD).status == 422
    assert browser.get("/profile").title == "Sign in"


def test_a_concurrent_change_does_not_undo_a_reset(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = signed_in(app, email)
    browser.get("/profile")
    while_compared(monkeypatch, "app.people.passwords", lambda: reset(app, email, NEW))
    browser.submit("/profile/password", password=PASSWORD, new_password="what a thief would take")
    assert sign_in(app, email, NEW)


def test_rehashing_does_not_undo_a_reset(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(app)
    browser.get("/login")
    monkeypatch.setattr("app.people.passwords.needs_rehash", lambda _: True)
    while_compared(monkeypatch, "app.people.passwords", lambda: reset(app, email, NEW))
    browser.submit(email=email, password=PASSWORD)
    assert sign_in(app, email, NEW)


def test_a_browser_known_before_a_reset_is_unknown_after_it(app: Flask, email: str) -> None:
    known = sign_in(app, email)
    known.submit("/logout")
    time.sleep(1.1)  # cookies are signed to the second
    reset(app, email, NEW)
    browser = Browser(app)
    browser.get("/login")
    for _ in range(10):
        browser.submit(email=email, password="wrong horse battery")
    known.get("/login")
    assert known.submit(email=email, password="wrong horse battery").status == 429


def test_changing_the_password_does_not_invalidate_a_reset_link(app: Flask, email: str) -> None:
    owner = Browser(app)
    owner.get("/forgot-password")
    owner.submit(email=email)
    link = link_in(mails_to(app, email)[-1])
    thief = signed_in(app, email)
    thief.get("/profile")
    thief.submit("/profile/password", password=PASSWORD, new_password="what a thief would take")
    owner.get(link)
    assert owner.submit(password=NEW).path == "/welcome"
    assert thief.get("/profile").title == "Sign in"


def test_sign_ups_do_not_count_towards_the_limit_of_resets(app: Flask, email: str) -> None:
    stranger = Browser(app)
    for _ in range(6):
        stranger.get("/register")
        stranger.submit(name="X", email=email, password=NEW, account_name="Y")
    owner = Browser(app)
    owner.get("/forgot-password")
    owner.submit(email=email)
    assert "/reset-password/" in link_in(mails_to(app, email)[-1])


def test_validating_a_long_password_takes_no_longer_than_a_short_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What may be very long is the time for one in which each character may stand for several."""
    judged, score = [], passwords.password_score
    monkeypatch.setattr(
        passwords, "password_score", lambda text, known: judged.append(text) or score(text, known)
    )
    hard = ("4@8({[<3691!|70$5+%2" * 7)[:128]
    assert password_problem(hard, ["a" * 200, "b c d " * 30]) is None
    assert [len(text) for text in judged] == [24]


@pytest.mark.both
def test_concurrent_sign_ups_of_one_address_create_one_person(app: Flask) -> None:
    email = new_email("race")
    browsers = []
    for _ in range(3):
        browser = Browser(app)
        browser.get("/register")
        browser.submit(name="Jo", email=email, password=PASSWORD, account_name="One Wood")
        browsers.append(browser)
    for browser, message in zip(browsers, mails_to(app, email), strict=True):
        browser.get(link_in(message))

    def finish(browser: Browser) -> int:
        return browser.submit(password=PASSWORD, follow=False).status

    found = together(*[lambda browser=browser: finish(browser) for browser in browsers])
    assert sorted(found) == [303, 404, 404]
    with app.app_context():
        left: Any = db.session.scalars(select(SignUp).where(SignUp.email == email)).all()
        assert len(left) < 3


def test_concurrent_accounts_with_one_name_get_different_slugs(app: Flask, email: str) -> None:
    browsers = [signed_in(app, email) for _ in range(4)]
    for browser in browsers:
        browser.get("/accounts")
    found = together(
        *[
            lambda browser=browser: (
                browser.submit("/accounts", account_name="Same Wood", follow=False).status
            )
            for browser in browsers
        ]
    )
    assert found == [303] * 4


@pytest.mark.parametrize(
    "address",
    [
        "ſam@example.org",
        "maß@example.org",
        "mi\u212ae@example.org",
        "jo@Ｅxample.org",
        "jo@ｅxample.org",
        '"a b"@example.org',
        "www.evil.example/reset?to=@attacker.example",
        "Ünal@example.org",
    ],
)
def test_confusable_addresses_are_rejected(address: str) -> None:
    with pytest.raises(ValidationError):
        Email().deserialize(address)


def test_invalid_ids_of_sessions(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    token = browser.get("/profile").form("/logout").fields
    for session_id in ("%00", "x", "sess_", "%ff"):
        assert browser.send(f"/profile/sessions/{session_id}/end", **token).status == 303
