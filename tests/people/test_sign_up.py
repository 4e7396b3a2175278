"""Signing up: pages, mails, and not revealing who is registered."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import event, func, select

from app.db.extensions import db
from app.models import Account, SignUp, User
from app.policy.people import SIGN_UP_LIFE, WRONG_PASSWORDS
from app.values import clock
from tests.make import link_in, mails_to, make_person, new_email, sign_in
from tests.make.browser import PASSWORD, Browser
from tests.make.mails import text_of

FIELDS = {"name": "Ada Birch", "password": PASSWORD, "account_name": "Birch Hill"}


def begin(app: Flask, email: str, **fields: str) -> Browser:
    browser = Browser(app)
    browser.get("/register")
    browser.submit(**FIELDS | {"email": email} | fields)
    return browser


def users(app: Flask, email: str) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).where(User.email == email)) or 0


def test_a_person_signs_up_and_has_an_account(app: Flask) -> None:
    email = new_email()
    browser = begin(app, email)
    assert browser.page is not None
    assert browser.page.title == "Check your email"
    assert users(app, email) == 0
    message = mails_to(app, email)[-1]
    assert not [name for name in ("Birch", "Ada") if name in text_of(message)]
    browser.get(link_in(message))
    page = browser.submit(password=PASSWORD)
    assert page.path == "/welcome"
    assert "Birch Hill" in page.text
    assert "owner" in browser.get("/accounts").text
    assert "confirmed" in browser.get("/profile").text


def test_nothing_is_created_without_the_chosen_password(app: Flask) -> None:
    """Else a stranger could sign up with somebody's address and wait for the click."""
    email = new_email()
    begin(app, email)
    browser = Browser(app)
    browser.get(link_in(mails_to(app, email)[-1]))
    page = browser.submit(password="something else entirely")
    assert page.status == 422
    assert users(app, email) == 0


def test_the_password_of_a_sign_up_is_throttled(app: Flask) -> None:
    email = new_email()
    begin(app, email)
    link = link_in(mails_to(app, email)[-1])
    browser = Browser(app)
    browser.get(link)
    wrong = {"password": "something else entirely"}
    statuses = [browser.submit(**wrong).status for _ in range(WRONG_PASSWORDS + 2)]
    assert statuses == [422] * WRONG_PASSWORDS + [429] * 2


def test_the_owner_of_an_address_is_notified_of_a_sign_up(app: Flask) -> None:
    email = new_email()
    make_person(app, email)
    browser = begin(app, email, password="quite another pass phrase")
    assert browser.page is not None
    assert browser.page.title == "Check your email"
    message = text_of(mails_to(app, email)[-1])
    assert "/login" in message
    assert "/register/confirm" not in message
    assert sign_in(app, email)
    with app.app_context():
        assert db.session.scalar(select(func.count()).where(SignUp.email == email)) == 0


def test_known_and_unknown_addresses_get_the_same_page(app: Flask) -> None:
    known = new_email()
    make_person(app, known)
    unknown = "x" * len(known.partition("@")[0]) + "@example.org"
    pages = [begin(app, email).page for email in (known, unknown)]
    texts = [page.response.get_data(as_text=True).replace(email, "") for page, email in
             zip(pages, (known, unknown), strict=True) if page is not None]  # fmt: skip
    assert texts[0] == texts[1]


def test_signing_up_does_not_look_up_the_address(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So its duration cannot reveal whether the address is registered."""
    sent: list[str] = []
    browser = Browser(app)
    browser.get("/register")
    with app.app_context():
        engine = db.engine

    def note(_c: object, _k: object, statement: str, *_: object) -> None:
        sent.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        browser.submit(**FIELDS | {"email": new_email()})
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert sent
    assert not [statement for statement in sent if "users" in statement]


def test_invalid_fields(app: Flask) -> None:
    browser = Browser(app)
    browser.get("/register")
    for field, value, message in (
        ("name", "", "Required."),
        ("name", "x" * 201, "1 to 200"),
        ("name", "a\x00b", "NUL"),
        ("email", "nobody", "such as jo@example.org"),
        ("email", "a@example.org\r\nBcc: b@example.org", "such as jo@example.org"),
        ("email", "a" * 250 + "@example.org", "254"),
        ("password", "short", "10 to 128"),
        ("password", "x" * 129, "10 to 128"),
        ("password", "password123", "too easy to guess"),
        ("password", "Ada Birch1", "too easy to guess"),
        ("account_name", "", "Required."),
        ("account_slug", "Birch Hill", "e.g. birch-hill"),
        ("account_slug", "admin", "This word is reserved."),
    ):
        page = browser.submit(**FIELDS | {"email": new_email(), "account_slug": "", field: value})
        assert page.status == 422, (field, value)
        assert message in page.text, (field, value)
        filled = page.form().fields
        assert filled["password"] == ""
        is_empty = field == "account_name"
        assert filled["account_name"] == ("" if is_empty else FIELDS["account_name"])


def test_a_slug_can_be_chosen_and_is_numbered_where_it_is_taken(app: Flask) -> None:
    slug, slugs = f"wood-{id(app)}", []
    for _ in range(2):
        email = new_email()
        browser = begin(app, email, account_slug=slug)
        browser.get(link_in(mails_to(app, email)[-1]))
        browser.submit(password=PASSWORD)
        with app.app_context():
            found = select(Account.slug).where(Account.slug.like(f"{slug}%")).order_by(Account.id)
            slugs = list(db.session.scalars(found))
    assert slugs == [slug, f"{slug}-2"]


def test_a_link_works_once_and_within_a_day(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    email = new_email()
    begin(app, email)
    link = link_in(mails_to(app, email)[-1])
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment + SIGN_UP_LIFE)
    assert Browser(app).get(link).status == 404
    monkeypatch.setattr(clock, "now", lambda: moment + SIGN_UP_LIFE - timedelta(minutes=1))
    browser = Browser(app)
    browser.get(link)
    assert browser.submit(password=PASSWORD).path == "/welcome"
    assert Browser(app).get(link).title == "This link has expired or was already used"


def test_invalid_links(app: Flask) -> None:
    for path in ("/register/confirm/", "/reset-password/", "/verify-email/"):
        for token in ("x", "canopy_lnk_" + "0" * 38, "%00", "x" * 5000):
            assert Browser(app).get(path + token).status == 404, path + token


def test_mails_to_an_address_are_limited(app: Flask) -> None:
    email = new_email()
    for number in range(6):
        begin(app, email.upper() if number % 2 else email)
    assert len(mails_to(app, email)) + len(mails_to(app, email.upper())) == 5


def test_addresses_that_people_guess_lead_to_the_form(app: Flask) -> None:
    for path in ("/sign-up", "/signup"):
        assert Browser(app).get(path).path == "/register"
