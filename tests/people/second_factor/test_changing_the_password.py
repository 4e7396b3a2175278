"""Changing the password gives a new session, so it asks for the second factor."""

from __future__ import annotations

import pytest
from flask import Flask

from app.policy.people import SESSION_IDLE, SESSION_LIFE
from app.policy.second_factor import CONFIRMED_FOR
from tests.make import Browser, signed_in
from tests.make.browser import PASSWORD
from tests.people.second_factor.support import STEP, Later, give, turn_on

NEW = "lichen on the north side"
PATH = "/profile/password"


def test_the_password_is_changed_after_the_code(app: Flask, email: str, later: Later) -> None:
    browser = signed_in(app, email)
    factor = turn_on(browser)
    later.move(CONFIRMED_FOR)
    page = browser.get("/profile")
    assert "You are asked for your second factor first" in page.text
    assert "new_password" not in page.form(PATH).fields
    page = browser.submit(PATH)
    assert page.title == "Confirm that it is you"
    assert "/profile" in page.links
    page = give(browser, value=factor.code())
    assert "Now enter your current password and a new one." in page.text
    page = browser.submit(PATH, password=PASSWORD, new_password=NEW)
    assert "Password changed" in page.text
    other = Browser(app)
    other.get("/login")
    assert other.submit(email=email, password=NEW).path == STEP


def test_no_page_has_the_passwords_that_were_typed(app: Flask, email: str, later: Later) -> None:
    browser = signed_in(app, email)
    turn_on(browser)
    browser.get("/profile")
    later.move(CONFIRMED_FOR)
    page = browser.submit(PATH, password=PASSWORD, new_password=NEW)
    assert page.title == "Confirm that it is you"
    assert PASSWORD not in page.response.text
    assert NEW not in page.response.text


@pytest.mark.slow
def test_a_session_ends_although_somebody_in_it_knows_the_password(
    app: Flask, email: str, later: Later
) -> None:
    browser = signed_in(app, email)
    turn_on(browser)
    token = browser.get("/profile").form("/logout").fields
    for _ in range(SESSION_LIFE // SESSION_IDLE * 2 + 1):
        later.move(SESSION_IDLE / 2)
        browser.get("/profile")
        browser.send(PATH, **token, password=PASSWORD, new_password=NEW)
    assert browser.get("/profile").title == "Sign in"
