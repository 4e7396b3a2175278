"""The pages of the second factor, in all their states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser

from tests.browser.conftest import Instance, Visitor, sign_up
from tests.browser.second_factor import (
    OWN,
    App,
    add_authenticator,
    at_localhost,
    forget_confirmations,
    scan,
    sign_in,
)
from tests.make import new_email

Scene = tuple[str, Visitor]


def second_factor_scenes(chrome: Browser, instance: Instance, **options: Any) -> Iterator[Scene]:
    """Yield each scene's name, and the visitor who sees it."""
    email, first = new_email(), Visitor(chrome, instance, **options)
    sign_up(first, email)
    first.go(OWN)
    yield "second factor at an IP address", first
    first.leave()
    visitor = at_localhost(chrome, instance, **options)
    add_authenticator(visitor)
    sign_in(visitor, email)
    yield from _without_one(visitor, instance)
    app = scan(visitor)
    yield from _turning_on(visitor, app)
    yield from _required(visitor, instance)
    visitor.choose("You", "Sign out")
    yield from _second_step(visitor, email, app)
    visitor.leave()


def _without_one(visitor: Visitor, instance: Instance) -> Iterator[Scene]:
    visitor.go(OWN)
    yield "second factor off", visitor
    forget_confirmations(instance)
    visitor.press("Set up an app")
    yield "second factor, password asked for", visitor
    sign_in_again = visitor.page.get_by_label("Current password")
    sign_in_again.fill("moss under old larches")
    visitor.press("Continue")
    yield "authenticator app", visitor


def _turning_on(visitor: Visitor, app: App) -> Iterator[Scene]:
    visitor.fill(code=app.wrong())
    visitor.press("Turn on")
    yield "authenticator app with error", visitor
    visitor.fill(code=app.next_code())
    visitor.press("Turn on")
    app.codes = visitor.page.locator("#codes").inner_text().split()
    yield "recovery codes", visitor
    visitor.move()
    visitor.go(OWN)
    visitor.press("Add a passkey")
    yield "passkey", visitor
    visitor.fill(name="")
    visitor.press("Add a passkey")
    visitor.page.locator("[aria-invalid]").wait_for()
    yield "passkey with error", visitor
    visitor.fill(name="The phone with the cracked screen that lies in the office")
    visitor.press("Add a passkey")
    visitor.page.wait_for_url(f"**{OWN}")
    yield "second factor on", visitor
    visitor.move()


def _required(visitor: Visitor, instance: Instance) -> Iterator[Scene]:
    visitor.go("/settings")
    visitor.fill(grace_days="99")
    visitor.press("Require a second factor")
    visitor.page.locator("[aria-invalid]").wait_for()
    yield "second factor required, with error", visitor
    visitor.fill(grace_days="7")
    forget_confirmations(instance)
    visitor.press("Require a second factor")
    yield "second factor asked for again", visitor
    visitor.press("Use a passkey")
    visitor.page.wait_for_url("**/settings")
    yield "second factor required", visitor
    visitor.move()


def _second_step(visitor: Visitor, email: str, app: App) -> Iterator[Scene]:
    sign_in(visitor, email)
    yield "second step", visitor
    visitor.fill(second_factor_code=app.wrong())
    visitor.press("Sign in")
    visitor.page.locator("[aria-invalid]").wait_for()
    yield "second step with error", visitor
    visitor.page.get_by_text("Use a recovery code").click()
    visitor.fill(second_factor_recovery_code=app.codes[0])
    visitor.page.locator("details button").click()
    visitor.page.wait_for_url("**/welcome")
    visitor.go(OWN)
    visitor.press("Turn off…")
    yield "second factor, to be turned off", visitor
    visitor.page.locator(".dialog:popover-open button.danger").click()
    visitor.page.wait_for_url(f"**{OWN}")
    yield "second factor off, and the account closes", visitor
