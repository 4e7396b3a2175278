"""Asked for a second factor between the consent page and the application."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Visitor, sign_up
from tests.browser.oauth.running import Loopback
from tests.browser.oauth.woods import Application, authorization_address, exchange, status
from tests.browser.second_factor import (
    OWN,
    add_authenticator,
    at_localhost,
    forget_confirmations,
    sign_in,
    turn_on,
)
from tests.make import new_email

pytestmark = pytest.mark.slow

ASKED = "Confirm that it is you"


def test_a_code_leads_on_to_the_application(
    visitor: Visitor, instance: Instance, application: Application, back: Loopback
) -> None:
    """Without scripts. Browsers apply the ``form-action`` of the confirmation to the redirect."""
    sign_up(visitor, new_email())
    app = turn_on(visitor)
    forget_confirmations(instance)
    address = authorization_address(instance, application, back.uri, scope="projects:read")
    visitor.go(address)
    visitor.press("Allow")
    assert visitor.heading == ASKED
    visitor.page.get_by_role("link", name="Cancel").click()
    assert visitor.heading == f"{application.name} asks for access"
    visitor.press("Allow")
    visitor.fill(second_factor_code=app.wrong())
    visitor.press("Continue")
    visitor.fill(second_factor_code=app.next_code())
    visitor.press("Continue")
    visitor.page.wait_for_url(f"{back.uri}?**")
    assert status(instance, exchange(instance, application, back)) == 200


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
