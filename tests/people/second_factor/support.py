"""People with a second factor, and what they give: codes of an app, and a passkey in software."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.twofactor.hotp import HOTP
from flask import Flask

from app.auth.memberships import memberships_of
from app.auth.pending_sign_ins import start_pending
from app.auth.people import find_person
from app.db.transactions import transaction
from app.people.second_factor.changes import turn_on_authenticator
from app.people.second_factor.totp import new_secret
from app.policy.second_factor import CODE_SECONDS
from app.values import clock
from tests.make import Browser
from tests.make.browser import PASSWORD, Page

OWN = "/profile/second-factor"
APP = f"{OWN}/authenticator"
STEP = "/login/second-factor"
PRESENT, VERIFIED, ATTESTED = 1, 4, 64  # flags of an authenticator


class Later:
    """A clock that a test moves on. Codes work once, so each use needs a later time. It begins with
    a new code, which thus changes only when it is moved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._real = clock.now
        self._by = timedelta(seconds=CODE_SECONDS - clock.now().timestamp() % CODE_SECONDS)
        monkeypatch.setattr(clock, "now", lambda: self._real() + self._by)

    def move(self, by: timedelta = timedelta(seconds=2 * CODE_SECONDS)) -> None:
        self._by += by


@dataclass
class Factor:
    """The authenticator app of a person, and their recovery codes."""

    secret: bytes
    codes: list[str] = field(default_factory=list)

    def code(self, steps: int = 0) -> str:
        """What the app shows now, or some steps from now."""
        step = int(clock.now().timestamp()) // CODE_SECONDS + steps
        return HOTP(self.secret, 6, SHA1()).generate(step).decode()

    def wrong(self) -> str:
        """A code that is none of those that are right now, by any clock."""
        right = {self.code(steps) for steps in range(-3, 4)}
        return next(code for code in map("{:06}".format, range(10)) if code not in right)


def secret_of(page: Page) -> bytes:
    """The secret that the page of a new app shows."""
    shown = re.search(r'<code id="key">([A-Z2-7 ]+)</code>', page.response.text)
    assert shown, page.text
    text = shown[1].replace(" ", "")
    return base64.b32decode(text + "=" * (-len(text) % 8))


def codes_of(page: Page) -> list[str]:
    """The recovery codes that a page shows once."""
    shown = re.search(r'<code id="codes">([^<]+)</code>', page.response.text)
    assert shown, page.text
    return shown[1].split()


def turn_on(browser: Browser) -> Factor:
    """Set up an authenticator app, as a person who has just signed in."""
    browser.get(OWN)
    factor = Factor(secret_of(browser.submit(APP)))
    factor.codes = codes_of(browser.submit(f"{APP}/confirm", code=factor.code()))
    return factor


def person_with_app(app: Flask, email: str) -> Factor:
    """Likewise, stored directly."""
    return app_of(app, _person_id(app, email))


def app_of(app: Flask, user_id: str) -> Factor:
    """The authenticator app of this person, stored directly."""
    factor = Factor(new_secret())
    with app.app_context(), transaction():
        codes = turn_on_authenticator(
            user_id, factor.secret, factor.code(), first=True, address="203.0.113.7"
        )
    assert codes
    factor.codes = codes
    return factor


def begin(app: Flask, email: str) -> Browser:
    """A browser that waits for the second step, by a sign-in that is begun directly."""
    user_id = _person_id(app, email)
    with app.app_context(), transaction():
        account_id = next((row.id for row in memberships_of(user_id)), None)
        token = start_pending(user_id, account_id, "/")
    browser = Browser(app)
    browser.client.set_cookie("canopy_second_step", token)
    browser.get(STEP)
    return browser


def _person_id(app: Flask, email: str) -> str:
    with app.app_context():
        person = find_person(email)
        assert person is not None
        return person.id


def give_password(
    app: Flask, email: str, browser: Browser | None = None, target: str = ""
) -> Browser:
    """A browser after the right password, that waits for the second step."""
    browser = browser or Browser(app)
    browser.get("/login" + (f"?next={target}" if target else ""))
    page = browser.submit(email=email, password=PASSWORD)
    assert page.path == STEP, page.text
    return browser


def give(browser: Browser, kind: str = "code", value: str = "", follow: bool = True) -> Page:
    """Give a second factor on the page at hand."""
    fields = {f"second_factor_{kind}": value}
    return browser.submit(action_of(browser), follow=follow, **fields)


def action_of(browser: Browser) -> str:
    """Where the question on the page at hand leads."""
    assert browser.page is not None
    return next(
        form.action or browser.page.path
        for form in browser.page.forms
        if any(name.startswith(("second_factor_", "confirm_")) for name in form.fields)
    )


def options_of(page: Page) -> Any:
    """The options for a passkey that a page has."""
    found = re.search(r'data-options="([^"]+)"', page.response.text)
    assert found, page.text
    return json.loads(html.unescape(found[1]))


def text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class SoftPasskey:
    """A passkey that a test holds, and what a browser would say of it."""

    def __init__(self, origin: str = "http://localhost") -> None:
        self.origin = origin
        self.host = origin.partition("://")[2].partition(":")[0]
        self.id = os.urandom(32)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.count = 0

    def registered(self, options: Any, public: dict[int, Any] | None = None, **changed: Any) -> str:
        """The response to options for a new passkey.

        Args:
            public: another public key than its own.
        """
        numbers = self.key.public_key().public_numbers()
        public = public or {1: 2, 3: -7, -1: 1, -2: _bytes(numbers.x), -3: _bytes(numbers.y)}
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cbor2.dumps(public)
        data = self._data(PRESENT | VERIFIED | ATTESTED) + attested
        content = {"fmt": "none", "attStmt": {}, "authData": data}
        client = self._client_data("webauthn.create", options, changed)
        response = {"clientDataJSON": text(client), "attestationObject": text(cbor2.dumps(content))}
        return self._said(response | {"transports": ["internal", "of tomorrow"]})

    def signed(self, options: Any, **changed: Any) -> str:
        """The response to options for signing in."""
        self.count = changed.pop("count", self.count + 1)
        data = self._data(changed.pop("flags", PRESENT | VERIFIED))
        client = self._client_data("webauthn.get", options, changed)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        response = {"authenticatorData": text(data), "signature": text(signature)}
        return self._said(response | {"clientDataJSON": text(client)})

    def _client_data(self, kind: str, options: Any, changed: dict[str, Any]) -> bytes:
        content = {"type": kind, "challenge": options["challenge"], "origin": self.origin}
        return json.dumps(content | changed).encode()

    def _data(self, flags: int) -> bytes:
        host = hashlib.sha256(self.host.encode()).digest()
        return host + bytes([flags]) + self.count.to_bytes(4, "big")

    def _said(self, response: dict[str, Any]) -> str:
        own = text(self.id)
        return json.dumps({"id": own, "rawId": own, "type": "public-key", "response": response})


def _bytes(number: int) -> bytes:
    return number.to_bytes(32, "big")
