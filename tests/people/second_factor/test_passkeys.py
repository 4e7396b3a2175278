"""Passkeys: registered, used and removed, and what is no good response."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from flask import Flask
from itsdangerous import TimestampSigner

from app.policy.second_factor import CONFIRMED_FOR, SECOND_STEP_LIFE, WRONG_CODES
from tests.make import Browser, mails_to, sign_up, signed_in, together
from tests.people.second_factor.support import (
    OWN,
    PRESENT,
    STEP,
    VERIFIED,
    Later,
    SoftPasskey,
    begin,
    codes_of,
    give,
    options_of,
    turn_on,
)

KEYS = f"{OWN}/passkeys"


def add(browser: Browser, passkey: SoftPasskey, name: str = "Phone", **changed: Any) -> Any:
    """The page after a passkey was added."""
    browser.get(OWN)
    options = options_of(browser.submit(f"{KEYS}/new"))
    return browser.submit(KEYS, name=name, response=passkey.registered(options, **changed))


def person_with_passkey(app: Flask, email: str) -> SoftPasskey:
    passkey = SoftPasskey()
    assert codes_of(add(signed_in(app, email), passkey))
    return passkey


def use(browser: Browser, passkey: SoftPasskey, **changed: Any) -> Any:
    """The page after a passkey was used as the second step."""
    options = options_of(browser.get(STEP))
    return give(browser, "passkey", passkey.signed(options, **changed))


def test_a_passkey_signs_in(app: Flask, email: str) -> None:
    passkey = person_with_passkey(app, email)
    assert use(begin(app, email), passkey).path == "/welcome"
    page = sign_in_with(app, email, passkey).get(OWN)
    assert "Phone" in page.text
    assert "Last used" in page.text


def sign_in_with(app: Flask, email: str, passkey: SoftPasskey) -> Browser:
    browser = begin(app, email)
    assert use(browser, passkey).path == "/welcome"
    return browser


def test_the_browser_is_asked_for_this_host_and_these_passkeys(app: Flask, email: str) -> None:
    passkey = person_with_passkey(app, email)
    options = options_of(begin(app, email).get(STEP))
    assert (options["rpId"], options["userVerification"]) == ("localhost", "preferred")
    (known,) = options["allowCredentials"]
    assert known["id"] == json.loads(passkey.registered(options))["id"]
    assert known["transports"] == ["internal"]


def test_the_first_passkey_gives_recovery_codes_and_the_second_none(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    assert len(codes_of(add(browser, SoftPasskey()))) == 10
    assert add(browser, SoftPasskey(), "Blue key").path == OWN
    assert "Blue key" in browser.get(OWN).text
    assert "A passkey was added on Canopy" in str(mails_to(app, email)[-1]["Subject"])


def test_an_app_goes_on_beside_a_passkey(app: Flask, email: str, later: Later) -> None:
    browser = signed_in(app, email)
    factor, passkey = turn_on(browser), SoftPasskey()
    assert add(browser, passkey).path == OWN
    later.move()
    assert use(begin(app, email), passkey).path == "/welcome"
    assert give(begin(app, email), value=factor.code()).path == "/welcome"


@pytest.mark.both
def test_a_response_is_no_good_twice_in_a_session(app: Flask, email: str, later: Later) -> None:
    """A session may confirm several times; a recorded response confirms nothing again, also of a
    passkey that does not count."""
    passkey, browser = person_with_passkey(app, email), begin(app, email)
    use(browser, passkey, count=0)
    later.move(CONFIRMED_FOR)
    browser.get(OWN)
    asked = browser.submit(f"{KEYS}/new")
    response = passkey.signed(options_of(asked), count=0)
    assert give(browser, "passkey", response).title == "Add a passkey"
    later.move(CONFIRMED_FOR)  # the challenge goes by another clock, and is still good
    browser.get(OWN)
    browser.submit(f"{KEYS}/new")
    assert give(browser, "passkey", response).status == 422


def test_a_response_at_the_same_moment_is_used_once(app: Flask, email: str) -> None:
    passkey, browser = person_with_passkey(app, email), begin(app, email)
    response, copies = passkey.signed(options_of(browser.get(STEP))), []
    for _ in range(3):
        copy = Browser(app)
        for cookie in (browser.client._cookies or {}).values():
            copy.client.set_cookie(cookie.key, cookie.value)
        copy.get(STEP)
        copies.append(copy)

    def send(copy: Browser) -> str:
        sent = give(copy, "passkey", response, follow=False)
        return sent.response.headers.get("Location", "")

    found = together(*[lambda copy=copy: send(copy) for copy in copies])
    assert found.count("/") == 1


def test_a_challenge_of_another_browser_is_not_taken(app: Flask, email: str) -> None:
    passkey = person_with_passkey(app, email)
    theirs = options_of(begin(app, email).get(STEP))
    browser = begin(app, email)
    assert give(browser, "passkey", passkey.signed(theirs)).status == 422


def test_a_challenge_for_registering_does_not_sign_in(app: Flask, email: str) -> None:
    own = signed_in(app, email)
    passkey = SoftPasskey()
    add(own, passkey)
    own.get(OWN)
    options = options_of(own.submit(f"{KEYS}/new"))
    assert give(begin(app, email), "passkey", passkey.signed(options)).status == 422


def test_a_challenge_expires(app: Flask, email: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passkey, browser = person_with_passkey(app, email), begin(app, email)
    moment = int(time.time() - SECOND_STEP_LIFE.total_seconds() - 5)
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: moment)
    options = options_of(browser.get(STEP))
    monkeypatch.undo()
    browser.get(STEP)
    assert give(browser, "passkey", passkey.signed(options)).status == 422


def test_a_response_with_something_wrong_signs_nobody_in(app: Flask, email: str) -> None:
    passkey = person_with_passkey(app, email)
    for changed in (
        {"origin": "http://evil.example"},
        {"origin": "http://localhost:8000"},
        {"type": "webauthn.create"},
        {"challenge": "AAAA"},
        {"flags": 0},
    ):
        assert use(begin(app, email), passkey, **changed).status == 422, changed


def test_a_copy_of_a_passkey_is_noticed(app: Flask, email: str) -> None:
    passkey = person_with_passkey(app, email)
    assert use(begin(app, email), passkey, count=7).path == "/welcome"
    assert use(begin(app, email), passkey, count=7).status == 422
    assert use(begin(app, email), passkey, count=8).path == "/welcome"


def test_a_passkey_need_neither_count_nor_verify_the_person(app: Flask, email: str) -> None:
    passkey = person_with_passkey(app, email)
    for flags in (PRESENT, PRESENT | VERIFIED):
        assert use(begin(app, email), passkey, flags=flags, count=0).path == "/welcome"


def test_the_passkey_of_somebody_else_signs_nobody_in(app: Flask, email: str) -> None:
    person_with_passkey(app, email)
    other = SoftPasskey()
    add(sign_up(app, f"other-{email}"), other)
    assert use(begin(app, email), other).status == 422


def test_wrong_codes_do_not_lock_out_a_passkey(app: Flask, email: str) -> None:
    own, passkey = signed_in(app, email), SoftPasskey()
    factor = turn_on(own)
    add(own, passkey)
    browser = begin(app, email)
    for _ in range(WRONG_CODES + 1):
        page = give(browser, value=factor.wrong())
    assert page.status == 429
    assert ", or use a passkey." in page.text
    assert page.title == "Problem · Confirm your sign-in"
    assert "use your passkey or enter a code." in page.text
    assert use(begin(app, email), passkey).path == "/welcome"
