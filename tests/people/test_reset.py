"""Resetting a password with a mailed link."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.db.extensions import db
from app.db.transactions import transaction
from app.mail.errors import Delayed, MailError, ServerUnavailable
from app.mail.jobs import send_mails
from app.mail.transport import MailFolder
from app.models import User
from app.people.mailed_links import request_reset
from app.policy.people import MAILS_AN_HOUR, RESET_LIFE, WRONG_PASSWORDS
from app.values import clock
from tests.make import Client, link_in, mails_to, new_email, sign_in, signed_in
from tests.make.browser import PASSWORD, Browser
from tests.make.mails import text_of
from tests.people.test_sign_in import attempt, status

HOUR = timedelta(hours=1)
NEW = "lichen on the north side"


def test_a_forgotten_password_is_reset_by_mail(app: Flask, email: str) -> None:
    elsewhere = signed_in(app, email)
    browser = Browser(app)
    browser.get("/forgot-password")
    assert browser.submit(email=email).title == "Check your email"
    link = link_in(mails_to(app, email)[-1])
    browser.get(link)
    assert browser.submit(password="password123").status == 422
    page = browser.submit(password=NEW)
    assert page.path == "/welcome"
    assert "Password changed" in page.text
    assert elsewhere.get("/profile").title == "Sign in"
    assert sign_in(app, email, NEW)
    assert status(attempt(app, email, PASSWORD)) == 422
    assert Browser(app).get(link).title == "This link has expired or was already used"
    assert "password" in str(mails_to(app, email)[-1]["Subject"]).lower()


def request_link(app: Flask, email: str) -> str:
    """The link that is mailed to a person who forgot their password."""
    with app.app_context(), transaction():
        request_reset(email)
    return link_in(mails_to(app, email)[-1])


def test_a_reset_lifts_the_throttle(app: Flask, email: str) -> None:
    browser = Browser(app)
    for _ in range(WRONG_PASSWORDS + 1):
        attempt(app, email, "wrong horse battery", browser)
    browser.get(request_link(app, email))
    browser.submit(password=NEW)
    assert sign_in(app, email, NEW)


def test_a_mailed_link_proves_the_address(app: Flask, client: Client) -> None:
    """The operator made the account, and nobody has proved its owner's address."""
    email, proved_at = _address_of(client)
    assert proved_at is None
    browser = Browser(app)
    browser.get(request_link(app, email))
    assert _address_of(client)[1] is None
    browser.submit(password=NEW)
    assert _address_of(client)[1] is not None


@pytest.mark.both
@pytest.mark.parametrize(
    ("error", "after"),
    [(Delayed("greylisted"), timedelta(minutes=20)), (ServerUnavailable("down"), 3 * HOUR)],
)
def test_mails_that_had_to_wait_count_too(
    app: Flask,
    email: str,
    monkeypatch: pytest.MonkeyPatch,
    error: MailError,
    after: timedelta,
) -> None:
    def reject(*_: Any) -> str:
        raise error

    with monkeypatch.context() as patch, app.app_context():
        patch.setattr(MailFolder, "send", reject)
        for _ in range(MAILS_AN_HOUR + 2):
            request_reset(email)
        db.session.commit()
        send_mails()
    moment = clock.now() + after
    monkeypatch.setattr(clock, "now", lambda: moment)
    with app.app_context(), transaction():
        request_reset(email)
    sent = [mail for mail in mails_to(app, email) if "/reset-password/" in text_of(mail)]
    assert len(sent) == MAILS_AN_HOUR


def _address_of(client: Client) -> tuple[str, Any]:
    """The owner's address, and when it was proved."""
    with client.app.app_context():
        owner = db.session.get_one(User, client.owner_id)
        return owner.email, owner.email_verified_at


def test_a_reset_invalidates_the_other_links(app: Flask, email: str) -> None:
    links = [request_link(app, email) for _ in range(2)]
    browser = Browser(app)
    browser.get(links[1])
    browser.submit(password=NEW)
    assert Browser(app).get(links[0]).status == 404


def test_a_reset_link_is_valid_for_an_hour(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, moment = request_link(app, email), clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment + RESET_LIFE)
    assert Browser(app).get(link).status == 404


def test_no_mail_is_sent_to_an_unknown_address(app: Flask) -> None:
    unknown = new_email("nobody")
    browser = Browser(app)
    browser.get("/forgot-password")
    assert browser.submit(email=unknown).title == "Check your email"
    assert mails_to(app, unknown) == []


def test_a_mailed_link_uses_the_public_url(app: Flask, email: str) -> None:
    for header in ("Host", "X-Forwarded-Host"):
        browser = Browser(app)
        fields = browser.get("/forgot-password").form().fields | {"email": email}
        browser.send("/forgot-password", {header: "evil.example"}, **fields)
    messages = mails_to(app, email)
    assert messages
    for message in messages:
        assert "evil.example" not in text_of(message)
        assert app.config["SETTINGS"].public_url in text_of(message)
