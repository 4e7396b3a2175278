"""Browser sessions: cookies and expiry."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.auth.sessions import start_session
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Session, User
from app.policy.people import SESSION_IDLE, SESSION_LIFE, SESSIONS_PER_PERSON
from app.values import clock
from tests.make import second_app, signed_in
from tests.make.browser import PASSWORD, Browser
from tests.people.test_sign_in import attempt


def test_each_sign_in_starts_a_new_session(app: Flask, email: str) -> None:
    """A cookie planted before signing in is invalid afterwards (session fixation)."""
    browser = Browser(app)
    browser.client.set_cookie("canopy_session", "canopy_ses_planted")
    attempt(app, email, PASSWORD, browser)
    first = browser.client.get_cookie("canopy_session")
    assert first is not None
    assert first.value != "canopy_ses_planted"
    assert first.http_only
    assert first.same_site == "Lax"
    assert not first.secure
    browser.get("/login", follow=False)
    browser.client.set_cookie("canopy_session", first.value)
    browser.submit("/logout") if browser.get("/profile").status == 200 else None
    attempt(app, email, PASSWORD, browser)
    second = browser.client.get_cookie("canopy_session")
    assert second is not None
    assert second.value != first.value


def test_signing_in_again_ends_the_previous_session(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    old = browser.client.get_cookie("canopy_session")
    assert old is not None
    other = Browser(app)
    other.client.set_cookie("canopy_session", old.value)
    page = browser.get("/profile")
    browser.client.post("/login", data={**page.form("/logout").fields, "email": email,
                                        "password": PASSWORD}, headers=browser.headers)  # fmt: skip
    assert other.get("/profile").title == "Sign in"
    assert browser.get("/profile").title == "Your profile"


@pytest.mark.both
def test_the_sessions_of_a_person_are_bounded(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signing in ends the one that was unused for longest."""
    oldest = signed_in(app, email)
    with app.app_context(), transaction():
        user_id = db.session.scalars(select(User.id).where(User.email == email)).one()
        for _ in range(SESSIONS_PER_PERSON + 5):
            start_session(user_id, None, address="", browser="Other")
        moment = clock.now() + timedelta(minutes=2)
        monkeypatch.setattr(clock, "now", lambda: moment)
    assert oldest.get("/profile").title == "Sign in"
    again = signed_in(app, email)
    html = again.get("/profile").response.get_data(as_text=True)
    assert html.count('/end"') == SESSIONS_PER_PERSON


def test_on_https_cookies_are_for_this_host_and_https_only(app: Flask, email: str) -> None:
    with second_app(app, public_url="https://canopy.example.org") as secure:
        browser = Browser(secure)
        options = {"base_url": "https://canopy.example.org"}
        shown = browser.get("/login", **options)
        response = browser.client.post(
            "/login",
            data=shown.form().fields | {"email": email, "password": PASSWORD},
            headers={"Accept": "text/html", "Referer": "https://canopy.example.org/login"},
            **options,
        )
        assert response.status_code == 303
        cookies = response.headers.getlist("Set-Cookie")
    names = {cookie.partition("=")[0] for cookie in cookies}
    assert {"__Host-canopy_session", "__Host-canopy_known"} <= names
    for cookie in cookies:
        assert "; Secure" in cookie
        assert "; HttpOnly" in cookie
        assert "; SameSite=Lax" in cookie
        assert "Domain" not in cookie


@pytest.mark.both
def test_sessions_expire(app: Flask, email: str) -> None:
    browser, moment, day = signed_in(app, email), clock.now(), timedelta(days=1)
    for idle, age, is_open in (
        (timedelta(days=13, hours=23), 14 * day, True),
        (SESSION_IDLE, 14 * day, False),
        (day, timedelta(days=89, hours=23), True),
        (day, SESSION_LIFE, False),
    ):
        with app.app_context(), transaction():
            person = select(User.id).where(User.email == email).scalar_subquery()
            row = update(Session).where(Session.user_id == person)
            db.session.execute(row.values(last_used_at=moment - idle, created_at=moment - age))
        assert (browser.get("/profile").title == "Your profile") is is_open, (idle, age)
