"""A person's own pages: name, password, sessions, accounts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Membership, Session, User
from app.policy.people import WRONG_PASSWORDS
from app.values import clock
from tests.make import (
    Browser,
    event_types,
    link_in,
    mails_to,
    make_account,
    make_member,
    new_email,
    second_app,
    sign_in,
    sign_up,
)
from tests.make.browser import PASSWORD

NEW = "lichen on the north side"


@pytest.fixture
def browser(app: Flask, email: str) -> Browser:
    return sign_up(app, email, name="Rowan Ash", account="Ash Grove")


def test_a_name_is_changed(browser: Browser) -> None:
    browser.get("/profile")
    page = browser.submit("/profile/name", name="  Rowan Alder ")
    assert page.path == "/profile"
    assert "Name saved." in page.text
    assert page.form("/profile/name").fields["name"] == "Rowan Alder"


def test_invalid_names(browser: Browser) -> None:
    for name in ["", " ", "x" * 201, "a\x00"]:
        browser.get("/profile")
        assert browser.submit("/profile/name", name=name).status == 422
        assert "Rowan Ash" in browser.get("/profile").text


def test_a_password_is_changed_and_the_other_sessions_end(
    app: Flask, browser: Browser, email: str
) -> None:
    elsewhere = sign_in(app, email)
    browser.get("/profile")
    page = browser.submit("/profile/password", password=PASSWORD, new_password=NEW)
    assert "Password changed" in page.text
    assert elsewhere.get("/profile").title == "Sign in"
    assert browser.get("/profile").title == "Your profile"
    assert sign_in(app, email, NEW)
    assert "password" in str(mails_to(app, email)[-1]["Subject"]).lower()


def test_rejected_passwords(browser: Browser) -> None:
    for now, new, message in [
        ("wrong horse battery", NEW, "That is not your current password."),
        (PASSWORD, "short", "10 to 128"),
        (PASSWORD, "Rowan Ash 1", "too easy to guess"),
        ("", NEW, "Required."),
    ]:
        browser.get("/profile")
        page = browser.submit("/profile/password", password=now, new_password=new)
        assert page.status == 422
        assert message in page.text


@pytest.mark.slow
def test_attempts_on_the_profile_page_are_throttled(browser: Browser) -> None:
    found = []
    for _ in range(WRONG_PASSWORDS + 1):
        browser.get("/profile")
        page = browser.submit("/profile/password", password="wrong horse", new_password=NEW)
        found.append(page.status)
    assert found == [422] * WRONG_PASSWORDS + [429]


def test_sessions_are_listed_and_ended_one_by_one(app: Flask, browser: Browser, email: str) -> None:
    elsewhere = sign_in(app, email)
    page = browser.get("/profile")
    assert page.text.count("Firefox on Linux") == 2
    assert page.text.count("From 12.") == 2
    ends = [form.action for form in page.forms if form.action.endswith("/end")]
    other = next(action for action in ends if _id(app, elsewhere) in action)
    browser.submit(other)
    assert elsewhere.get("/profile").title == "Sign in"
    assert browser.get("/profile").title == "Your profile"


def _id(app: Flask, browser: Browser) -> str:
    from app.security.tokens import hash_token

    cookie = browser.client.get_cookie("canopy_session")
    assert cookie is not None
    with app.app_context():
        own = select(Session.id).where(Session.token_hash == hash_token(cookie.value))
        return str(db.session.scalars(own).one())


def test_ending_the_current_session_signs_out(app: Flask, browser: Browser) -> None:
    browser.get("/profile")
    page = browser.submit(f"/profile/sessions/{_id(app, browser)}/end")
    assert page.title == "Sign in"
    assert browser.client.get_cookie("canopy_session") is None


def test_ending_all_other_sessions(app: Flask, browser: Browser, email: str) -> None:
    others = [sign_in(app, email) for _ in range(2)]
    browser.get("/profile")
    browser.submit("/profile/sessions/end-others")
    assert [other.get("/profile").title for other in others] == ["Sign in"] * 2
    assert browser.get("/profile").title == "Your profile"


def test_sessions_of_others_cannot_be_ended(app: Flask, browser: Browser) -> None:
    stranger = sign_up(app, new_email("stranger"))
    own = stranger.get("/profile").form("/logout").fields
    assert stranger.send(f"/profile/sessions/{_id(app, browser)}/end", **own).status == 303
    assert browser.get("/profile").title == "Your profile"


@pytest.mark.slow
def test_an_ended_session_has_ended_in_every_process(
    app: Flask, browser: Browser, email: str
) -> None:
    with second_app(app) as process:
        elsewhere = Browser(process)
        cookie = browser.client.get_cookie("canopy_session")
        assert cookie is not None
        elsewhere.client.set_cookie("canopy_session", cookie.value)
        assert elsewhere.get("/profile").title == "Your profile"
        browser.get("/profile")
        browser.submit("/logout")
        assert elsewhere.get("/profile").title == "Sign in"


@pytest.mark.both
def test_use_is_recorded_once_a_minute(
    app: Flask, browser: Browser, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seen() -> tuple[object, object]:
        with app.app_context():
            one = (
                select(Session.last_used_at, Membership.last_active_at)
                .join(User, User.id == Session.user_id)
                .join(Membership, Membership.user_id == User.id)
                .where(User.email == email)
            )
            return tuple(db.session.execute(one).one())  # type: ignore[return-value]

    first, _ = seen()
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment + timedelta(seconds=50))
    browser.get("/accounts")
    assert seen()[0] == first
    monkeypatch.setattr(clock, "now", lambda: moment + timedelta(seconds=70))
    browser.get("/accounts")
    assert seen() == (moment + timedelta(seconds=70),) * 2


def test_opening_another_account_and_switching_to_it(browser: Browser) -> None:
    browser.get("/accounts")
    page = browser.submit("/accounts", account_name="Second Wood", account_slug="")
    assert "Account Second Wood created." in page.text
    switch = page.form("/accounts/switch").buttons[0]
    assert switch["aria-label"] == "Switch to Ash Grove"
    page = browser.submit("/accounts/switch", press=switch["value"])
    assert "Switched to Ash Grove." in page.text


def test_accounts_of_others_cannot_be_switched_to(app: Flask, browser: Browser) -> None:
    stranger = sign_up(app, new_email("stranger"))
    with app.app_context():
        theirs = db.session.scalars(select(Membership.account_id).order_by(
            Membership.created_at.desc())).first()  # fmt: skip
    own = browser.get("/accounts").form("/logout").fields
    assert browser.send("/accounts/switch", account_id=str(theirs), **own).status == 404
    assert stranger.get("/accounts").status == 200


def test_an_address_is_confirmed_by_a_mailed_link(app: Flask, email: str, browser: Browser) -> None:
    with app.app_context(), transaction():
        person = db.session.scalars(select(User).where(User.email == email)).one()
        person.email_verified_at = None
    assert "not confirmed" in browser.get("/profile").text
    browser.submit("/profile/verify-email")
    link = link_in(mails_to(app, email)[-1])
    scanner = Browser(app)
    assert scanner.get(link).title == "Confirm your email address"
    assert "not confirmed" in browser.get("/profile").text
    scanner.get(link)
    scanner.submit()
    assert "not confirmed" not in browser.get("/profile").text
    assert Browser(app).get(link).status == 404


def test_a_member_of_any_role_can_leave(app: Flask, email: str, browser: Browser) -> None:
    client = make_account(app)
    make_member(client, "viewer", email=email)
    page = browser.get("/accounts")
    assert "You are a viewer" in page.text
    leave = page.form("/accounts/leave")
    wanted = next(
        button["value"]
        for form in page.forms
        for button in form.buttons
        if button.get("value") == client.account_id
    )
    page = browser.send("/accounts/leave", **leave.fields, account_id=wanted)
    assert page.status == 303
    assert "You are a viewer" not in browser.get("/accounts").text
    assert email not in str(client.get("/v1/account/members").json)
    assert event_types(client)[-1] == "member.removed"


def test_leaving_the_current_account_keeps_the_session(app: Flask, email: str) -> None:
    browser = sign_up(app, email)
    client = make_account(app)
    make_member(client, "editor", email=email)
    fields = browser.get("/accounts").form("/logout").fields
    for path in ("/accounts/switch", "/accounts/leave"):
        assert browser.send(path, **fields, account_id=client.account_id).status == 303
    assert "current" in browser.get("/accounts").text


def test_the_last_owner_cannot_leave(browser: Browser) -> None:
    page = browser.get("/accounts")
    own = page.form("/accounts/leave").buttons[0]["value"]
    page = browser.send("/accounts/leave", **page.form("/logout").fields, account_id=own)
    assert page.status == 409
    assert "last owner" in page.text
    assert "You are an owner" in browser.get("/accounts").text


def test_accounts_of_others_cannot_be_left(app: Flask, browser: Browser) -> None:
    fields = browser.get("/accounts").form("/logout").fields
    page = browser.send("/accounts/leave", **fields, account_id=make_account(app).account_id)
    assert page.status == 404
