"""Registering and removing passkeys, and what no browser says."""

from __future__ import annotations

import json

import pytest
from flask import Flask
from sqlalchemy import select

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Passkey, User
from app.policy.second_factor import PASSKEYS
from tests.make import mails_to, sign_in, sign_up, signed_in
from tests.people.second_factor.support import (
    OWN,
    STEP,
    SoftPasskey,
    begin,
    give,
    options_of,
    turn_on,
)
from tests.people.second_factor.test_passkeys import KEYS, add, person_with_passkey


def test_a_wrong_registration_stores_nothing(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    for changed in ({"origin": "http://evil.example"}, {"challenge": "AAAA"}):
        page = add(browser, SoftPasskey(), **changed)
        assert page.status == 422
        assert "Your browser created no passkey" in page.text
        assert "Yours is off" in browser.get(OWN).text


def test_a_passkey_of_somebody_else_cannot_be_registered_again(app: Flask, email: str) -> None:
    passkey = person_with_passkey(app, email)
    assert add(sign_up(app, f"other-{email}"), passkey).status == 422


_DEEP = json.dumps({"id": "AA", "rawId": "AA", "type": "public-key", "response": {}})


def test_what_no_browser_says_is_refused(app: Flask, email: str) -> None:
    responses = ("", "x", "{}", "[]", "null", "[" * 19_000, '{"id": 1}', "\\ud800", _DEEP)
    browser = signed_in(app, email)
    browser.get(OWN)
    fields = browser.submit(f"{KEYS}/new").form(KEYS).fields | {"name": "Phone"}
    for response in responses:
        assert browser.send(KEYS, **fields | {"response": response}).status == 422, response[:20]
    add(browser, SoftPasskey())
    waiting = begin(app, email)
    for response in responses:
        assert give(waiting, "passkey", response).status in (200, 422), response[:20]


_NUMBER = b"\1" * 32


def test_a_key_that_no_signature_fits_is_refused(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    for public in (
        {1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(32)},
        {1: 2, 3: -7, -1: 1, -2: _NUMBER, -3: _NUMBER},
        {1: 2, 3: -7, -1: 99, -2: _NUMBER, -3: _NUMBER},
        {1: 3, 3: -257, -1: bytes([15]), -2: bytes([3])},
        {1: 3, 3: -257, -1: b"\xff" * 255, -2: b"\1\0\1"},
        {1: 1, 3: -8, -1: 6, -2: b"too short"},
        {1: 1, 3: -8, -1: 7, -2: _NUMBER},
        {1: 2, 3: -7, -1: 1, -2: "text", -3: "text"},
    ):
        page = add(browser, SoftPasskey(), public=public)
        assert (page.status, "Your browser created no passkey" in page.text) == (422, True), public
    assert "Yours is off" in browser.get(OWN).text


def test_a_key_for_another_algorithm_is_refused(app: Flask, email: str) -> None:
    """A point of a curve, said to sign with RSA."""
    browser, passkey = signed_in(app, email), SoftPasskey()
    numbers = passkey.key.public_key().public_numbers()
    x, y = (number.to_bytes(32, "big") for number in (numbers.x, numbers.y))
    page = add(browser, passkey, public={1: 2, 3: -257, -1: 1, -2: x, -3: y})
    assert page.status == 422


def test_a_passkey_needs_a_name(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    for name in ("", " ", "x" * 65, "a\x00b"):
        assert add(browser, SoftPasskey(), name).status == 422, name


def test_a_removed_passkey_no_longer_signs_in(app: Flask, email: str) -> None:
    own, passkey = signed_in(app, email), SoftPasskey()
    turn_on(own)
    add(own, passkey)
    waiting = begin(app, email)
    options = options_of(waiting.get(STEP))
    own.get(OWN)
    own.submit(f"{KEYS}/{ids_of(app, email)[0]}/remove")
    assert "A passkey was removed" in str(mails_to(app, email)[-1]["Subject"])
    assert give(waiting, "passkey", passkey.signed(options)).status == 422


@pytest.mark.both
def test_without_the_last_passkey_it_is_off(app: Flask, email: str) -> None:
    own = signed_in(app, email)
    add(own, SoftPasskey())
    own.get(OWN)
    own.submit(f"{KEYS}/{ids_of(app, email)[0]}/remove")
    assert sign_in(app, email)


def test_the_passkey_of_somebody_else_cannot_be_removed(app: Flask, email: str) -> None:
    person_with_passkey(app, email)
    other = sign_up(app, f"other-{email}")
    add(other, SoftPasskey())
    token = other.get("/profile").form("/logout").fields
    for passkey_id in (ids_of(app, email)[0], "x", "pk_", "%00"):
        assert other.send(f"{KEYS}/{passkey_id}/remove", **token).status == 303
    assert ids_of(app, email)


def test_nobody_has_more_passkeys_than_they_may(app: Flask, email: str) -> None:
    browser = signed_in(app, email)
    add(browser, SoftPasskey())
    with app.app_context(), transaction():
        user_id = db.session.scalars(select(User.id).where(User.email == email)).one()
        first = db.session.scalars(select(Passkey).where(Passkey.user_id == user_id)).one()
        for number in range(PASSKEYS - 1):
            values = {"id": f"pk_{number}-{id(app)}", "credential_id": f"AA{number:02}"}
            columns = [c.key for c in Passkey.__table__.columns if c.key not in values]
            db.session.add(Passkey(**values, **{name: getattr(first, name) for name in columns}))
    page = add(browser, SoftPasskey())
    assert "Remove one before you add another" in page.text


def ids_of(app: Flask, email: str) -> list[str]:
    with app.app_context():
        own = select(Passkey.id).join(User, User.id == Passkey.user_id).where(User.email == email)
        return list(db.session.scalars(own))
