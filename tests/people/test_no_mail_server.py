"""Pages that have a mail sent, in an instance without a mail server."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.db.extensions import db
from app.models import User
from app.settings.mail import mail_server
from tests.make import Browser, link_in, mails_to, new_email, second_app, sign_up
from tests.make.browser import PASSWORD

FIELDS = {"name": "Ada Birch", "password": PASSWORD, "account_name": "Birch Hill"}
NO_MAIL = "This instance does not send email yet"


@pytest.fixture
def email() -> str:
    return new_email("no-mail")


@pytest.mark.parametrize("path", ["/register", "/forgot-password"])
def test_in_production_the_page_says_so_and_whom_to_ask(app: Flask, email: str, path: str) -> None:
    with second_app(app, canopy_env="production", support_email="help@woods.example") as made:
        browser = Browser(made)
        browser.get(path)
        page = browser.submit(**(FIELDS if path == "/register" else {}), email=email)
        assert (page.status, page.title) == (200, NO_MAIL)
        assert email in page.text
        assert "mailto:help@woods.example" in page.links
        assert "set MAIL_URL" in page.text
        assert "Check your email" not in page.text


def test_the_link_is_in_the_folder_as_the_page_says(app: Flask, email: str) -> None:
    with second_app(app, canopy_env="production") as made:
        browser = Browser(made)
        browser.get("/register")
        browser.submit(**FIELDS, email=email)
        browser.get(link_in(mails_to(made, email)[-1]))
        assert browser.submit(password=PASSWORD).path == "/welcome"


def test_the_profile_says_so_too(app: Flask, email: str) -> None:
    browser = sign_up(app, email)
    with app.app_context():
        person = db.session.scalars(select(User).where(User.email == email)).one()
        person.email_verified_at = None
        db.session.commit()
    browser.get("/profile")
    assert f"We are sending a link to {email}." in browser.submit("/profile/verify-email").text
    with second_app(app, canopy_env="production") as made:
        cookie = browser.client.get_cookie("canopy_session")
        assert cookie is not None
        other = Browser(made)
        other.client.set_cookie("canopy_session", cookie.value)
        other.get("/profile")
        page = other.submit("/profile/verify-email")
        assert NO_MAIL in page.text


@pytest.mark.parametrize(
    "settings",
    [
        {"canopy_env": "production", "mail_url": mail_server("smtp://localhost")},
        {"canopy_env": "development"},
    ],
)
def test_with_a_server_and_in_development_the_page_is_the_usual_one(
    app: Flask, email: str, settings: dict[str, object]
) -> None:
    with second_app(app, **settings) as made:
        browser = Browser(made)
        browser.get("/forgot-password")
        assert browser.submit(email=email).title == "Check your email"
