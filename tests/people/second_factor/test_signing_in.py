"""Signing in with a code: each works once, and nothing goes around it."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

import pytest
from flask import Flask

from app.policy.forms import FIELD_LENGTH
from app.policy.second_factor import SECOND_STEP_LIFE, WRONG_CODES, WRONG_CODES_WINDOW
from tests.make import Browser, Client, link_in, mails_to, make_member, sign_in, signed_in, together
from tests.make.browser import PASSWORD
from tests.people.second_factor.support import (
    OWN,
    STEP,
    Factor,
    Later,
    app_of,
    begin,
    give,
    give_password,
    person_with_app,
    turn_on,
)

NEW = "lichen on the north side"


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/profile").title == "Your profile"


def test_a_password_alone_starts_no_session(app: Flask, email: str) -> None:
    person_with_app(app, email)
    browser = give_password(app, email)
    assert browser.client.get_cookie("canopy_session") is None
    assert browser.client.get_cookie("canopy_known") is None
    for path in ("/profile", "/projects", OWN):
        assert browser.get(path).title == "Sign in"


def test_password_and_code_lead_to_the_requested_page(app: Flask, email: str, later: Later) -> None:
    factor = person_with_app(app, email)
    later.move()
    browser = give_password(app, email, target=quote("/profile?tab=1"))
    assert give(browser, value=factor.code()).path == "/profile?tab=1"
    assert is_signed_in(browser)
    assert browser.client.get_cookie("canopy_second_step") is None


def test_whoever_has_lost_the_account_meanwhile_is_led_to_another(
    client: Client, stranger: Client, later: Later
) -> None:
    member = make_member(client, "viewer")
    make_member(stranger, "viewer", email=member.email)
    factor = app_of(client.app, member.id)
    later.move()
    waiting = begin(client.app, member.email)
    assert client.delete(f"/v1/account/members/{member.id}").status_code == 204
    give(waiting, value=factor.code())
    assert waiting.get("/projects").path == "/projects"


def test_a_clock_may_be_half_a_minute_wrong(app: Flask, email: str, later: Later) -> None:
    factor = person_with_app(app, email)
    later.move(timedelta(minutes=5))
    for steps in (-2, 2):
        assert give(begin(app, email), value=factor.code(steps)).status == 422
    for steps in (-1, 1):
        assert give(begin(app, email), value=factor.code(steps)).path == "/welcome"


def test_what_is_no_code_is_wrong(app: Flask, email: str) -> None:
    person_with_app(app, email)
    browser = begin(app, email)
    for code in ("", " ", "12345", "1234567", "abcdef", "١٢٣٤٥٦", "x" * FIELD_LENGTH):
        assert give(browser, value=code).status in (200, 422), code


def test_a_wrong_code_signs_nobody_in(app: Flask, email: str) -> None:
    factor = person_with_app(app, email)
    browser = begin(app, email)
    page = give(browser, value=factor.wrong())
    assert (page.status, page.title) == (422, "Problem · Enter your code")
    assert not is_signed_in(browser)


def test_the_code_that_turned_it_on_does_not_sign_in(app: Flask, email: str) -> None:
    factor = person_with_app(app, email)
    assert give(begin(app, email), value=factor.code()).status == 422


def test_an_earlier_code_does_not_work_after_a_later_one(
    app: Flask, email: str, later: Later
) -> None:
    factor = person_with_app(app, email)
    later.move(timedelta(minutes=5))
    earlier, code = factor.code(-1), factor.code()
    assert give(begin(app, email), value=code).path == "/welcome"
    assert give(begin(app, email), value=earlier).status == 422


def test_one_code_at_the_same_moment_signs_in_once(app: Flask, email: str, later: Later) -> None:
    factor = person_with_app(app, email)
    later.move()
    code, browsers = factor.code(), [begin(app, email) for _ in range(4)]
    found = together(
        *[lambda each=each: give(each, value=code, follow=False).status for each in browsers]
    )
    assert sorted(found) == [303, 422, 422, 422]


def test_one_waiting_sign_in_is_used_once(app: Flask, email: str, later: Later) -> None:
    """By two browsers that have its cookie, each with a code that is right."""
    factor = person_with_app(app, email)
    later.move()
    browser, copy = begin(app, email), Browser(app)
    for cookie in (browser.client._cookies or {}).values():
        copy.client.set_cookie(cookie.key, cookie.value)
    copy.get(STEP)
    assert give(browser, value=factor.code()).path == "/welcome"
    assert give(copy, value=factor.code(1)).title == "Sign in"
    assert not is_signed_in(copy)


def test_a_waiting_sign_in_ends_after_ten_minutes(app: Flask, email: str, later: Later) -> None:
    factor = person_with_app(app, email)
    browser = begin(app, email)
    later.move(SECOND_STEP_LIFE)
    assert give(browser, value=factor.code()).path == "/login"
    assert not is_signed_in(browser)


def test_a_new_password_ends_waiting_sign_ins(app: Flask, email: str, later: Later) -> None:
    own = signed_in(app, email)
    factor = turn_on(own)
    thief = begin(app, email)
    own.get("/profile")
    own.submit("/profile/password", password=PASSWORD, new_password=NEW)
    later.move()
    assert give(thief, value=factor.code()).path == "/login"


def test_signing_out_elsewhere_ends_waiting_sign_ins(app: Flask, email: str, later: Later) -> None:
    own = signed_in(app, email)
    factor = turn_on(own)
    sign_in_elsewhere = begin(app, email)
    own.get("/profile")
    later.move()
    copy = begin(app, email)
    assert give(copy, value=factor.code()).path == "/welcome"
    own.get("/profile")
    own.submit("/profile/sessions/end-others")
    later.move()
    assert give(sign_in_elsewhere, value=factor.code()).path == "/login"


def test_the_page_of_the_second_step_needs_a_password_first(app: Flask) -> None:
    browser = Browser(app)
    assert browser.get(STEP).path == "/login"
    token = browser.get("/login").form().fields["csrf_token"]
    sent = browser.send(STEP, csrf_token=token, second_factor_code="123456")
    assert sent.response.headers["Location"] == "/login"


def test_a_reset_password_does_not_replace_the_code(app: Flask, email: str, later: Later) -> None:
    factor = person_with_app(app, email)
    browser = Browser(app)
    browser.get("/forgot-password")
    browser.submit(email=email)
    browser.get(link_in(mails_to(app, email)[-1]))
    page = browser.submit(password=NEW)
    assert (page.path, "Password changed" in page.text) == (STEP, True)
    assert not is_signed_in(browser)
    browser.get(STEP)
    later.move()
    assert give(browser, value=factor.code()).path == "/welcome"


def test_a_known_browser_is_asked_too(app: Flask, email: str) -> None:
    own = sign_in(app, email)
    turn_on(own)
    own.get("/profile")
    own.submit("/logout")
    assert give_password(app, email, own)
    assert not is_signed_in(own)


def test_nothing_is_said_before_the_password_is_right(app: Flask, email: str) -> None:
    person_with_app(app, email)
    browser = Browser(app)
    browser.get("/login")
    page = browser.submit(email=email, password="wrong horse battery")
    assert (page.status, page.path) == (422, "/login")
    assert browser.client.get_cookie("canopy_second_step") is None


def test_too_many_wrong_codes_lock_out_even_the_right_one(
    app: Flask, email: str, later: Later
) -> None:
    factor = person_with_app(app, email)
    later.move()
    browser = begin(app, email)
    for _ in range(WRONG_CODES):
        assert give(browser, value=factor.wrong()).status == 422
    late = give(begin(app, email), value=factor.code())
    said = "Too many wrong codes. Please wait 60 minutes."
    assert (late.status, said in late.text) == (429, True)
    assert 0 < int(late.response.headers["Retry-After"]) <= 3600
    assert "may know your password" in str(mails_to(app, email)[-1]["Subject"])
    later.move(WRONG_CODES_WINDOW)
    assert give(begin(app, email), value=factor.code()).path == "/welcome"


@pytest.mark.slow
def test_wrong_codes_at_the_same_moment_are_all_counted(app: Flask, email: str) -> None:
    factor = person_with_app(app, email)
    wrong, browsers = factor.wrong(), [begin(app, email) for _ in range(WRONG_CODES + 3)]
    found = together(*[lambda each=each: give(each, value=wrong).status for each in browsers])
    assert sorted(found) == [422] * WRONG_CODES + [429] * 3


def change_password(browser: Browser, factor: Factor, later: Later) -> None:
    """Change the password to the same: each change makes the browser known anew."""
    later.move()
    page = browser.get("/profile")
    if "new_password" not in page.form("/profile/password").fields:
        browser.submit("/profile/password")
        give(browser, value=factor.code())
    page = browser.submit("/profile/password", password=PASSWORD, new_password=PASSWORD)
    assert "Password changed" in page.text


def known_as(browser: Browser) -> Browser:
    """Another browser, with the cookie that makes this one known."""
    other, cookie = Browser(browser.app), browser.client.get_cookie("canopy_known")
    assert cookie is not None
    other.client.set_cookie("canopy_known", cookie.value)
    return other


@pytest.mark.slow
def test_a_new_known_browser_brings_no_new_attempts(app: Flask, email: str, later: Later) -> None:
    own = sign_in(app, email)
    factor = turn_on(own)
    for _ in range(WRONG_CODES):
        change_password(own, factor, later)
        assert give(give_password(app, email, known_as(own)), value=factor.wrong()).status == 422
    change_password(own, factor, later)
    assert give(give_password(app, email, known_as(own)), value=factor.wrong()).status == 429


def test_a_code_may_have_spaces(app: Flask, email: str, later: Later) -> None:
    factor = person_with_app(app, email)
    later.move()
    code = factor.code()
    assert give(begin(app, email), value=f" {code[:3]} {code[3:]} ").path == "/welcome"
