"""Turning a second factor on and off, on a person's own page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Authenticator, Passkey, RecoveryCode, User
from app.policy.second_factor import CONFIRMED_FOR, SETUP_LIFE
from tests.make import mails_to, sign_in, sign_up, signed_in
from tests.make.browser import PASSWORD
from tests.people.second_factor.support import (
    APP,
    OWN,
    STEP,
    Factor,
    Later,
    begin,
    give,
    person_with_app,
    secret_of,
    turn_on,
)


def subjects(app: Flask, email: str) -> list[str]:
    return [str(mail["Subject"]) for mail in mails_to(app, email)]


def test_it_is_on_once_a_code_was_right(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    assert "Yours is off" in browser.get(OWN).text
    page = browser.submit(APP)
    assert 'src="data:image/svg+xml' in page.response.text
    assert page.response.headers["Cache-Control"] == "no-store"
    assert "Yours is off" in browser.get(OWN).text
    turn_on(browser)
    assert "Yours is on" in browser.get(OWN).text
    assert "It is on" in browser.get("/profile").text
    assert "You turned on a second factor on Canopy" in subjects(app, email)


def test_a_wrong_code_turns_nothing_on(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    browser.get(OWN)
    page = browser.submit(APP)
    secret = secret_of(page)
    page = browser.submit(f"{APP}/confirm", code=Factor(secret).wrong())
    assert page.status == 422
    assert "Wrong code. Wait for the next one" in page.text
    assert "Please fix" not in page.text
    assert secret_of(page) == secret
    assert "Yours is off" in browser.get(OWN).text


def test_a_secret_is_good_for_an_hour(app: Flask, email: str, later: Later) -> None:
    browser = signed_in(app, email)
    browser.get(OWN)
    factor = Factor(secret_of(browser.submit(APP)))
    later.move(SETUP_LIFE + timedelta(seconds=1))
    assert browser.submit(f"{APP}/confirm", code=factor.code()).path == OWN
    assert "Yours is off" in browser.get(OWN).text


def test_the_secret_of_somebody_else_is_not_taken(app: Flask, email: str) -> None:
    mine, theirs = signed_in(app, email), sign_up(app, f"other-{email}")
    theirs.get(OWN)
    page = theirs.submit(APP)
    mine.get(OWN)
    mine.submit(APP)
    setup = page.form(f"{APP}/confirm").fields["setup"]
    code = Factor(secret_of(page)).code()
    assert mine.submit(f"{APP}/confirm", setup=setup, code=code).path == OWN
    assert "Yours is off" in mine.get(OWN).text


@pytest.mark.both
def test_the_secret_is_sealed(app: Flask, email: str) -> None:
    factor = person_with_app(app, email)
    with app.app_context():
        own = select(Authenticator.sealed_secret).join(User).where(User.email == email)
        stored = db.session.scalars(own).one()
    assert factor.secret.hex() not in stored
    assert stored.startswith("gAAAA")


def test_without_a_fresh_sign_in_the_password_is_asked_for(
    app: Flask, email: str, later: Later
) -> None:
    browser = signed_in(app, email)
    later.move(CONFIRMED_FOR)
    browser.get(OWN)
    assert browser.submit(APP).title == "Confirm that it is you"
    page = browser.submit(APP, confirm_password="")
    assert (page.status, "Enter your password." in page.text) == (422, True)
    assert browser.submit(APP, confirm_password="not that one").status == 422
    page = browser.submit(APP, confirm_password=PASSWORD)
    assert page.title == "Set up an authenticator app"


def test_another_app_takes_the_place_of_the_first(app: Flask, email: str, later: Later) -> None:
    browser = signed_in(app, email)
    first = turn_on(browser)
    later.move()
    browser.get(OWN)
    second = Factor(secret_of(browser.submit(APP)))
    assert browser.submit(f"{APP}/confirm", code=second.code()).path == OWN
    later.move()
    assert give(begin(app, email), value=first.code()).status == 422
    assert give(begin(app, email), value=second.code()).path == "/welcome"
    assert "Your authenticator app was replaced on Canopy" in subjects(app, email)


@pytest.mark.both
def test_turned_off_the_password_is_enough(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    for path in (f"{OWN}/off", f"{APP}/remove"):
        turn_on(browser)
        browser.get(OWN)
        assert browser.submit(path).path == OWN
        assert sign_in(app, email)
        assert subjects(app, email)[-1] == "Your second factor was turned off on Canopy"
        with app.app_context():
            user_id = db.session.scalars(select(User.id).where(User.email == email)).one()
            for model in (Authenticator, Passkey, RecoveryCode):
                assert not db.session.scalars(select(model).where(model.user_id == user_id)).all()


def test_turned_off_it_ends_the_sign_ins_that_wait_for_it(
    app: Flask, email: str, later: Later
) -> None:
    browser = signed_in(app, email)
    turn_on(browser)
    waiting, other = begin(app, email), begin(app, email)
    browser.get(OWN)
    browser.submit(f"{OWN}/off")
    page = waiting.get(STEP)
    assert page.path == "/login"
    assert "This sign-in has expired or ended. Sign in again." in page.text
    assert waiting.submit(email=email, password=PASSWORD).path == "/welcome"
    factor = turn_on(browser)
    later.move()
    assert give(other, value=factor.code()).path == "/login"


def test_a_sign_in_that_began_while_it_was_turned_off_has_ended(app: Flask, email: str) -> None:
    """It was stored just after the others were ended."""
    person_with_app(app, email)
    waiting = begin(app, email)
    with app.app_context(), transaction():
        person = db.session.scalars(select(User).where(User.email == email)).one()
        person.second_factor_since = None
    assert waiting.get(STEP).path == "/login"


def test_a_session_that_was_confirmed_by_password_is_asked_for_the_factor(
    app: Flask, email: str
) -> None:
    elsewhere = signed_in(app, email)
    person_with_app(app, email)
    assert elsewhere.get("/profile").title == "Your profile"
    elsewhere.get(OWN)
    assert elsewhere.submit(f"{OWN}/off").title == "Confirm that it is you"
