"""Pages that have a mail sent, in an instance without a mail server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import update

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import User
from app.settings.mail import mail_server
from tests.make import Browser, link_in, mails_to, make_person, new_email, second_app, signed_in
from tests.make.browser import PASSWORD

FIELDS = {"name": "Ada Birch", "password": PASSWORD, "account_name": "Birch Hill"}
NO_MAIL = "This instance does not send email"


@pytest.fixture
def email() -> str:
    return new_email("no-mail")


@pytest.fixture(scope="module")
def production(app: Flask) -> Iterator[Flask]:
    with second_app(app, canopy_env="production", support_email="help@woods.example") as other:
        yield other


def test_in_production_the_page_says_so_and_whom_to_ask(production: Flask, email: str) -> None:
    for path in ("/register", "/forgot-password"):
        browser = Browser(production)
        browser.get(path)
        page = browser.submit(**(FIELDS if path == "/register" else {}), email=email)
        assert (page.status, page.title) == (200, NO_MAIL)
        assert email in page.text
        assert "mailto:help@woods.example" in page.links
        assert "set MAIL_URL" in page.text
        assert "Check your email" not in page.text


def test_the_link_is_in_the_folder_as_the_page_says(production: Flask, email: str) -> None:
    browser = Browser(production)
    browser.get("/register")
    browser.submit(**FIELDS, email=email)
    browser.get(link_in(mails_to(production, email)[-1]))
    assert browser.submit(password=PASSWORD).path == "/welcome"


def test_the_profile_says_so_too(app: Flask, production: Flask, email: str) -> None:
    make_person(app, email)
    with app.app_context(), transaction():
        person = update(User).where(User.email == email)
        db.session.execute(person.values(email_verified_at=None))
    for site, message in ((app, f"We are sending a link to {email}."), (production, NO_MAIL)):
        browser = signed_in(site, email)
        browser.get("/profile")
        assert message in browser.submit("/profile/verify-email").text


def test_with_a_server_the_page_is_the_usual_one(app: Flask, email: str) -> None:
    server = mail_server("smtp://localhost")
    with second_app(app, canopy_env="production", mail_url=server) as site:
        browser = Browser(site)
        browser.get("/forgot-password")
        assert browser.submit(email=email).title == "Check your email"
