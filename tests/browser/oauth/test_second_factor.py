"""Asked for a second factor on the way to an application."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Visitor, sign_up
from tests.browser.oauth.chains import Chain, addresses_of, allow
from tests.browser.oauth.running import Loopback
from tests.browser.oauth.woods import Application, authorization_address, exchange, status
from tests.browser.second_factor import (
    OWN,
    App,
    add_authenticator,
    at_localhost,
    forget_confirmations,
    sign_in,
    turn_on,
)
from tests.make import new_email
from tests.make.browser import PASSWORD

pytestmark = pytest.mark.slow

ASKED = "Confirm that it is you"


def test_the_second_step_leads_on(
    visitor: Visitor,
    instance: Instance,
    application: Application,
    chains: dict[str, Chain],
    subtests: pytest.Subtests,
) -> None:
    """Without scripts, if consent is remembered."""
    email, addresses = new_email(), addresses_of(instance, application, chains)
    sign_up(visitor, email)
    app = turn_on(visitor)
    allow(visitor, addresses, chains)
    for name, chain in chains.items():
        with subtests.test(name):
            visitor.context.clear_cookies()
            visitor.move()
            visitor.go(addresses[name])
            visitor.fill(email=email, password=PASSWORD)
            visitor.press("Sign in")
            with chain.is_followed(visitor):
                give_recovery_code(visitor, app)


def test_being_asked_again_leads_on(
    visitor: Visitor,
    instance: Instance,
    application: Application,
    chains: dict[str, Chain],
    subtests: pytest.Subtests,
) -> None:
    """Without scripts, and after a wrong code, too."""
    addresses = addresses_of(instance, application, chains, prompt="consent")
    sign_up(visitor, new_email())
    app = turn_on(visitor)
    for mistakes, (name, chain) in enumerate(chains.items()):
        with subtests.test(name):
            forget_confirmations(instance)
            visitor.go(addresses[name])
            visitor.press("Allow")
            assert visitor.heading == ASKED
            if mistakes % 2:
                visitor.page.get_by_role("link", name="Cancel").click()
                assert visitor.heading == f"{application.name} asks for access"
                visitor.press("Allow")
                visitor.fill(second_factor_code=app.wrong())
                visitor.press("Continue")
            with chain.is_followed(visitor):
                give_recovery_code(visitor, app)


@pytest.mark.trial
def test_a_passkey_leads_on_to_the_application(
    visitor: Visitor,
    instance: Instance,
    application: Application,
    back: Loopback,
    chrome: Browser,
) -> None:
    email = new_email()
    sign_up(visitor, email)
    forester = at_localhost(chrome, instance)
    add_authenticator(forester)
    sign_in(forester, email)
    forester.go(OWN)
    forester.press("Add a passkey")
    forester.fill(name="Phone")
    forester.press("Add a passkey")
    expect(forester.page.locator("h1")).to_have_text("Your recovery codes")
    forget_confirmations(instance)
    forester.move()
    address = authorization_address(instance, application, back.uri, scope="projects:read")
    forester.go(address.removeprefix(instance.url))
    forester.press("Allow")
    expect(forester.page.locator("h1")).to_have_text(ASKED)
    forester.press("Use a passkey")
    forester.page.wait_for_url(f"{back.uri}?**")
    assert status(instance, exchange(instance, application, back)) == 200
    forester.leave()


def give_recovery_code(visitor: Visitor, app: App) -> None:
    """Give one that was not used, as the codes of an app change too slowly."""
    visitor.page.get_by_text("Use a recovery code").click()
    field = visitor.page.locator("[name=second_factor_recovery_code]")
    field.fill(app.codes.pop())
    field.press("Enter")
