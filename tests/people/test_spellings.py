"""Passwords typed on devices that write the same characters with other code points."""

from __future__ import annotations

import unicodedata

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import User
from tests.account.members.support import invite
from tests.cli.conftest import Run, runner
from tests.make import Client, link_in, mails_to, make_member, new_email, sign_in, signed_in
from tests.make.browser import PASSWORD, Browser
from tests.pages.support import signed_in_browser
from tests.people.test_sign_in import attempt, status

SET = "Grün-Wäldchen 7 Ünïcode"
OTHER = unicodedata.normalize("NFD", SET).replace(" ", "\u00a0")


@pytest.fixture
def run(app: Flask) -> Run:
    return runner(app)


def stored_hash(app: Flask, email: str) -> str | None:
    with app.app_context():
        return db.session.scalars(select(User.password_hash).where(User.email == email)).one()


@pytest.mark.slow
def test_every_way_to_set_a_password_takes_any_spelling(
    app: Flask, client: Client, email: str, run: Run, subtests: pytest.Subtests
) -> None:
    def signs_in(address: str) -> None:
        for password in (SET, OTHER):
            sign_in(app, address, password)

    with subtests.test("signing up, and its confirmation"):
        new, browser = new_email(), Browser(app)
        browser.get("/register")
        browser.submit(name="Ada", email=new, password=OTHER, account_name="Birch Hill")
        browser.get(link_in(mails_to(app, new)[-1]))
        assert browser.submit(password=SET).path == "/welcome"
        signs_in(new)
    with subtests.test("an invitation"):
        new, browser = new_email(), Browser(app)
        invite(client, new)
        browser.get(link_in(mails_to(app, new)[-1]))
        browser.submit(name="Ada", password=OTHER)
        signs_in(new)
    with subtests.test("a reset"):
        browser = Browser(app)
        browser.get("/forgot-password")
        browser.submit(email=email)
        browser.get(link_in(mails_to(app, email)[-1]))
        browser.submit(password=OTHER)
        signs_in(email)
    with subtests.test("the profile"):
        browser = signed_in(app, email)
        browser.get("/profile")
        browser.submit("/profile/password", password=SET, new_password=PASSWORD)
        browser.get("/profile")
        browser.submit("/profile/password", password=PASSWORD, new_password=OTHER)
        signs_in(email)
    with subtests.test("the command"):
        assert run("user", "set-password", email, input=f"{OTHER}\n").exit_code == 0
        signs_in(email)
    with subtests.test("a command for a new account"):
        words = ("account", "create", "--name", "Alder Hill", "--owner-email", new := new_email())
        result = run(*words, "--owner-password", "-", input=f"{OTHER}\n")
        assert result.exit_code == 0, result.output
        signs_in(new)


def test_it_is_asked_for_again_in_any_spelling(client: Client, run: Run) -> None:
    """Such as before a person is deleted."""
    member = make_member(client, "viewer")
    assert run("user", "set-password", member.email, input=f"{SET}\n").exit_code == 0
    browser = signed_in_browser(client, member.id)
    browser.get("/profile/deletion")
    page = browser.submit("/profile/deletion", confirmation=member.email)
    assert page.title == "Confirm that it is you"
    assert "That is not your" in browser.submit(confirm_password=PASSWORD).text
    assert browser.submit(confirm_password=OTHER).path == "/login"


def test_a_hash_of_another_spelling_is_renewed(app: Flask, email: str) -> None:
    """Early versions hashed what was typed."""
    with app.app_context(), transaction():
        old = app.extensions["canopy_passwords"].hash(OTHER)
        db.session.execute(update(User).where(User.email == email).values(password_hash=old))
    assert status(attempt(app, email, SET)) == 422  # the hash does not tell its spelling
    assert stored_hash(app, email) == old
    sign_in(app, email, OTHER)
    renewed = stored_hash(app, email)
    assert renewed != old
    sign_in(app, email, SET)
    sign_in(app, email, OTHER)
    assert stored_hash(app, email) == renewed
