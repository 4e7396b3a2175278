"""Wrong codes: who is told of them, and whose attempts a right code forgets."""

from __future__ import annotations

import pytest
from flask import Flask

from app.policy.second_factor import WRONG_CODES, WRONG_CODES_MAILED
from tests.make import sign_in
from tests.make.mails import mails_to
from tests.people.second_factor.support import (
    STEP,
    Later,
    begin,
    give,
    give_password,
    person_with_app,
    turn_on,
)


def test_few_wrong_codes_are_mailed(app: Flask, email: str) -> None:
    factor = person_with_app(app, email)
    before, browser = len(mails_to(app, email)), begin(app, email)
    for _ in range(WRONG_CODES_MAILED - 1):
        give(browser, value=factor.wrong())
    assert len(mails_to(app, email)) == before
    for _ in range(2):
        give(browser, value=factor.wrong())
    (mail,) = mails_to(app, email)[before:]
    assert "may know your password" in str(mail["Subject"])


@pytest.mark.slow
def test_the_right_code_gives_nobody_else_new_attempts(
    app: Flask, email: str, later: Later
) -> None:
    own = sign_in(app, email)
    factor = turn_on(own)
    own.get("/profile")
    own.submit("/logout")
    stranger = begin(app, email)
    for _ in range(WRONG_CODES):
        give(stranger, value=factor.wrong())
    later.move()
    assert give(give_password(app, email, own), value=factor.code()).path == "/welcome"
    assert give(begin(app, email), value=factor.wrong()).status == 429


def test_an_empty_field_is_said_and_counts_as_no_attempt(
    app: Flask, email: str, later: Later
) -> None:
    factor = person_with_app(app, email)
    browser = begin(app, email)
    assert "Enter the six-digit code." not in browser.get(STEP).text
    for _ in range(WRONG_CODES):
        page = give(browser, value=" ")
        assert (page.status, "Enter the six-digit code." in page.text) == (422, True)
    fields = page.form().fields | {"second_factor_recovery_code": ""}
    del fields["second_factor_code"]
    page = browser.send(STEP, **fields)
    assert (page.status, "Enter a recovery code." in page.text) == (422, True)
    later.move()
    browser.get(STEP)
    assert give(browser, value=factor.code()).path == "/welcome"
