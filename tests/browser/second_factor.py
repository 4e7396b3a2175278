"""What people have at hand for a second factor, for tests in a browser."""

from __future__ import annotations

import base64
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from typing import Any

from playwright.sync_api import Browser, CDPSession

from tests.browser.conftest import Instance, Visitor
from tests.make.browser import PASSWORD
from tests.people.second_factor.support import Factor

OWN = "/profile/second-factor"


class App(Factor):
    """An authenticator app, which never shows a code that was used."""

    used = 0

    def next_code(self) -> str:
        """A code that is right and was not used; waits for one if the service takes none yet."""
        now = int(time.time()) // 30
        while self.used >= now + 1:
            time.sleep(0.5)
            now = int(time.time()) // 30
        step = max(self.used + 1, now)
        self.used = step
        return self.code(step - now)


def scan(visitor: Visitor) -> App:
    """The app, after the page of a new one was opened."""
    text = visitor.page.locator("#key").inner_text().replace(" ", "")
    return App(base64.b32decode(text + "=" * (-len(text) % 8)))


def turn_on(visitor: Visitor) -> App:
    """Set up an authenticator app, ending on the recovery codes."""
    visitor.go(OWN)
    visitor.press("Set up an app")
    app = scan(visitor)
    visitor.fill(code=app.next_code())
    visitor.press("Turn on")
    app.codes = visitor.page.locator("#codes").inner_text().split()
    visitor.move()
    return app


def sign_in(visitor: Visitor, email: str) -> None:
    """Sign in up to the second step, if there is one."""
    visitor.move()
    visitor.go("/login")
    visitor.fill(email=email, password=PASSWORD)
    visitor.press("Sign in")
    visitor.move()


def at_localhost(chrome: Browser, instance: Instance, **options: Any) -> Visitor:
    """A visitor who opens the instance by a name: browsers make no passkeys for an address."""
    named = replace(instance, url=instance.url.replace("127.0.0.1", "localhost"))
    return Visitor(chrome, named, **options)


def add_authenticator(visitor: Visitor) -> tuple[CDPSession, str]:
    """Give the browser a device that makes passkeys, and confirms that its person is there.

    Returns the session in which it is told more, and its id.
    """
    session = visitor.context.new_cdp_session(visitor.page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return session, str(made["authenticatorId"])


def forget_confirmations(instance: Instance) -> None:
    """Have all sessions be asked again, as after ten minutes."""
    with closing(sqlite3.connect(instance.folder / "canopy.sqlite3", timeout=20)) as database:
        database.execute("UPDATE sessions SET confirmed_at = NULL")
        database.commit()
