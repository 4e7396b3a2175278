"""A browser on its way to the provider and back, and who is who afterwards."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from flask import Flask
from sqlalchemy import select

from app.db.extensions import db
from app.models import AuditEntry, SignInIdentity, User
from tests.make import Browser
from tests.make.browser import Page
from tests.people.single_sign_on.fake_provider import FakeProvider
from tests.people.single_sign_on.real_provider import RealProvider

Provider = FakeProvider | RealProvider


def leave(browser: Browser, path: str = "/login/single-sign-on", target: str = "/") -> str:
    """Where a browser is sent to sign in."""
    query = f"?next={quote(target, safe='')}" if target != "/" else ""
    page = browser.get(path + query, follow=False)
    assert page.status == 303, page.text
    return page.response.headers["Location"]


def arrive(
    browser: Browser, woods: Provider, person: dict[str, Any] | None, target: str = "/"
) -> Page:
    """The page that a browser sees after it has signed in at the provider."""
    return browser.get(woods.sign_in(leave(browser, target=target), person))


def seen(page: Page) -> tuple[int, str]:
    """The status and the title of a page."""
    return page.status, page.title


def begin(app: Flask, woods: Provider, person: dict[str, Any]) -> Browser:
    """The browser of a new person, who has just signed up this way."""
    browser = Browser(app)
    page = arrive(browser, woods, person)
    assert page.path == "/login/single-sign-on/new", page.text
    page = browser.submit(account_name=f"Woods of {person['sub']}")
    assert page.path == "/welcome", page.text
    return browser


def signed_in_as(browser: Browser) -> str:
    """The address of whoever is signed in; empty: nobody is."""
    page = browser.get("/profile", follow=False)
    if page.status != 200:
        return ""
    return page.form("/profile/password").fields["email"] if _has_password(page) else _shown(page)


def identities(app: Flask, email: str) -> list[str]:
    """The subjects that are linked to the person with an address."""
    with app.app_context():
        own = select(SignInIdentity.subject).join(User, User.id == SignInIdentity.user_id)
        return list(db.session.scalars(own.where(User.email == email)))


def person_of(app: Flask, email: str) -> Any:
    """The id, the name and whether the address was verified; None if there is nobody."""
    with app.app_context():
        columns = (User.id, User.name, User.email_verified_at, User.password_hash)
        return db.session.execute(select(*columns).where(User.email == email)).one_or_none()


def entries(app: Flask, email: str) -> list[Any]:
    """The entries of the audit log about a person, the oldest first."""
    with app.app_context():
        own = select(AuditEntry.body).where(AuditEntry.body.contains(email))
        found = map(json.loads, db.session.scalars(own.order_by(AuditEntry.id)))
        return [entry for entry in found if entry["target"]["label"] == email]


def actions(app: Flask, email: str) -> list[str]:
    """Their actions."""
    return [entry["action"] for entry in entries(app, email)]


def _has_password(page: Page) -> bool:
    return any(form.action == "/profile/password" for form in page.forms)


def _shown(page: Page) -> str:
    """Of the page of somebody who has no form for a password."""
    words = page.text.split()
    return next(word for word in words if "@" in word)
