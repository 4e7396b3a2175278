"""``SIGN_UP``: who may become a person here (docs/run.md, "People and sign-up")."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.db.extensions import db
from app.models import SignUp
from app.people import mailed_links
from tests.account.members.support import invite
from tests.make import (
    Browser,
    Client,
    invitation_token,
    link_in,
    mails_to,
    make_account,
    make_invited,
    make_member,
    make_person,
    new_email,
    second_app,
    sign_in,
)
from tests.make.browser import PASSWORD

FIELDS = {"name": "Ada Birch", "password": PASSWORD, "account_name": "Birch Hill"}


@pytest.fixture
def email() -> str:
    return new_email("mode")


@pytest.fixture(scope="module")
def closed(app: Flask) -> Iterator[Flask]:
    with second_app(app, sign_up="closed", support_email="help@woods.example") as site:
        yield site


@pytest.fixture(scope="module")
def invited(app: Flask) -> Iterator[Flask]:
    with second_app(app, sign_up="invited") as site:
        yield site


def sign_ups(app: Flask, email: str) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).where(SignUp.email == email)) or 0


def test_the_page_says_what_to_do_instead(invited: Flask, closed: Flask) -> None:
    page = Browser(invited).get("/register")
    assert (page.status, page.title) == (403, "Sign-up is by invitation")
    assert "Ask someone who manages an account here to invite you" in page.text
    page = Browser(closed).get("/register")
    assert (page.status, page.title) == (403, "Sign-up is closed")
    assert "Ask whoever runs this instance for access: help@woods.example" in page.text
    assert "mailto:help@woods.example" in page.links


def test_nobody_signs_up_past_the_page(
    app: Flask, closed: Flask, invited: Flask, email: str
) -> None:
    for site in (closed, invited):
        browser = Browser(site)
        token = browser.get("/login").form().fields["csrf_token"]
        page = browser.send("/register", csrf_token=token, email=email, **FIELDS)
        assert page.status == 403
    assert sign_ups(app, email) == 0
    assert mails_to(app, email) == []


def test_a_link_from_before_leads_nowhere(app: Flask, closed: Flask, email: str) -> None:
    browser = Browser(app)
    browser.get("/register")
    browser.submit(email=email, **FIELDS)
    link = link_in(mails_to(app, email)[-1])
    later = Browser(closed)
    assert later.get(link).status == 403
    token = later.get("/login").form().fields["csrf_token"]
    path = link.removeprefix(app.config["SETTINGS"].public_url)
    assert later.send(path, csrf_token=token, password=PASSWORD).status == 403
    assert Browser(app).get(link).status == 200


def test_no_link_is_mailed_once_sign_up_is_shut(app: Flask, closed: Flask, email: str) -> None:
    browser = Browser(app)
    browser.get("/register")
    browser.submit(email=email, **FIELDS)
    assert mails_to(closed, email) == []


def test_no_page_leads_to_the_form(closed: Flask) -> None:
    for path in ("/login", "/register", "/reset-password/x", "/docs", "/register/confirm/x"):
        page = Browser(closed).get(path)
        assert "/register" not in page.links
        assert "Sign up" not in page.text


def test_an_invitation_leads_a_new_person_in(invited: Flask, email: str) -> None:
    client = make_account(invited)
    assert invite(client, email).status_code == 201
    browser = Browser(invited)
    browser.get(link_in(mails_to(invited, email)[-1]))
    assert browser.submit(name="Ada", password=PASSWORD).path == "/projects"
    assert sign_in(invited, email)


@pytest.mark.parametrize("knows", ["nobody", "an invited person"])
def test_a_closed_instance_refuses_to_invite_new_people(
    app: Flask, closed: Flask, email: str, knows: str
) -> None:
    client = make_account(closed)
    if knows != "nobody":
        make_invited(make_account(app), email=email)
    response = invite(client, email)
    assert response.status_code == 403
    assert response.json["error"]["code"] == "FORBIDDEN"
    assert response.json["error"]["message"] == (
        f"{email} has not signed up, and sign-up is closed. Ask whoever runs this instance "
        "(help@woods.example)."
    )
    assert len(client.get("/v1/account/members").json["data"]) == 1


def test_a_closed_instance_lets_people_be_invited_who_are_there(
    app: Flask, closed: Flask, email: str
) -> None:
    make_person(app, email)
    assert invite(make_account(closed), email).status_code == 201


def test_the_operator_adds_new_people_to_a_closed_instance(closed: Flask, email: str) -> None:
    client = make_account(closed)
    make_invited(client, email=email)  # as the operator
    browser = Browser(closed)
    browser.get(f"/invitations/{invitation_token(client, email)}")
    assert browser.submit(name="Ada", password=PASSWORD).path == "/projects"
    assert make_member(client).client.get("/v1/account").status_code == 200


def test_a_reset_does_not_make_somebody_a_person(
    app: Flask, closed: Flask, email: str, client: Client
) -> None:
    """Somebody who was invited and never joined has no password that could be forgotten."""
    make_invited(client, email=email)
    mails_to(app, email)
    with closed.app_context():
        assert mailed_links.resolve_reset_mail(email, {}) is None
    with app.app_context():
        assert mailed_links.resolve_reset_mail(email, {}) is not None
