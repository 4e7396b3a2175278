"""``PASSWORD_SIGN_IN=false``: no password signs anybody in, signs them up, or can be set."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.db.extensions import db
from app.models import Mail, SignUp
from tests.make import (
    Browser,
    Client,
    invitation_token,
    make_invited,
    make_person,
    new_email,
    second_app,
    sign_up,
)
from tests.make.browser import PASSWORD
from tests.people.single_sign_on.fake_provider import FakeProvider
from tests.people.single_sign_on.real_provider import claims
from tests.people.single_sign_on.support import begin, person_of, signed_in_as
from tests.people.test_reset import request_link

NONE = (403, "There are no passwords here")


@pytest.fixture(scope="module")
def site(sso: Flask) -> Iterator[Flask]:
    with second_app(sso, password_sign_in=False) as site:
        yield site


def rows(app: Flask) -> tuple[int, int]:
    """How many sign-ups and mails there are."""
    with app.app_context():
        counted = (select(func.count()).select_from(table) for table in (SignUp, Mail))
        sign_ups, mails = map(db.session.scalar, counted)
        return sign_ups or 0, mails or 0


def test_a_page_asks_for_no_password(site: Flask) -> None:
    for path in ("/login", "/register"):
        assert Browser(site).get(path).forms == []


def test_the_right_password_signs_nobody_in(app: Flask, site: Flask) -> None:
    email = claims()["email"]
    make_person(app, email)
    browser = Browser(app)
    fields = browser.get("/login").form().fields  # of another process, before the restart
    site_client(browser, site)
    browser.send("/login", **fields | {"email": email, "password": PASSWORD})
    assert signed_in_as(browser) == ""


def test_nobody_signs_up_with_a_password(app: Flask, site: Flask) -> None:
    browser, before = Browser(app), rows(app)
    fields = browser.get("/register").form().fields
    values = {"name": "Ada", "email": claims()["email"], "password": PASSWORD}
    site_client(browser, site)
    browser.send("/register", **fields | values | {"account_name": "Ada Woods"})
    page = browser.send("/forgot-password", **fields | {"email": values["email"]})
    assert (page.status, page.title) == NONE
    assert rows(app) == before


def test_no_password_is_set_or_changed(app: Flask, site: Flask) -> None:
    email = claims()["email"]
    browser = sign_up(app, email)
    fields = browser.get("/profile").form("/profile/password").fields
    hashed = person_of(app, email).password_hash
    link = request_link(app, email)
    site_client(browser, site)
    values = {"password": PASSWORD, "new_password": "lichen on the north side"}
    page = browser.send("/profile/password", **fields | values)
    assert (page.status, page.title) == NONE
    page = browser.get(link)
    assert (page.status, page.title) == NONE
    assert person_of(app, email).password_hash == hashed


def test_an_invitation_asks_for_no_password(app: Flask, client: Client, site: Flask) -> None:
    email = new_email()
    make_invited(client, email=email)
    path = f"/invitations/{invitation_token(client, email)}"
    browser = Browser(app)
    fields = browser.get(path).form().fields
    site_client(browser, site)
    page = browser.send(path, **fields | {"name": "Ada", "password": PASSWORD})
    assert "Sign in to join" in page.text
    assert person_of(app, email).password_hash is None


def test_the_profile_has_no_password(site: Flask, woods: FakeProvider) -> None:
    browser = begin(site, woods, claims())
    page = browser.get("/profile")
    assert not [form for form in page.forms if form.action == "/profile/password"]
    assert "/forgot-password" not in page.links


def site_client(browser: Browser, site: Flask) -> None:
    """Let a browser, with its cookies, talk to another process."""
    cookies = browser.client._cookies
    browser.app, browser.client = site, site.test_client()
    browser.client._cookies = cookies
