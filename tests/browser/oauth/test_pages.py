"""Forms that end in a redirect to an application, without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Request

from tests.browser.conftest import Instance, Visitor
from tests.browser.oauth.running import Loopback
from tests.browser.oauth.woods import (
    Application,
    Woods,
    authorization_address,
)


@pytest.mark.trial
@pytest.mark.parametrize("mistakes", [0, 1])
def test_signing_in_redirects_straight_back_if_consent_is_remembered(
    visitor: Visitor,
    instance: Instance,
    woods: Woods,
    application: Application,
    back: Loopback,
    mistakes: int,
) -> None:
    """From the sign-in form through the consent page to the application: browsers apply the
    ``form-action`` of the first page to the last redirect.
    """
    address = authorization_address(instance, application, back.uri, scope="profile")
    woods.ask(visitor, address)
    visitor.press("Allow")
    assert "code" in back.response()
    visitor.context.clear_cookies()
    visitor.go(address)
    for _ in range(mistakes):
        visitor.fill(email=woods.owner, password="not that one")
        visitor.press("Sign in")
        visitor.page.locator("[aria-invalid]").first.wait_for()
    woods.enter(visitor)
    visitor.page.wait_for_url(f"{back.uri}?**")
    assert "code" in back.response()


@pytest.mark.parametrize("uri", ["http://[::1]:9/back", "com.example.notes:/back"])
def test_forms_redirect_to_uris_that_a_policy_cannot_express(
    visitor: Visitor, instance: Instance, woods: Woods, uri: str
) -> None:
    """The consent form, and then the sign-in form."""
    application = woods.register("Field notes", "profile", uri=uri)
    address = authorization_address(instance, application, uri, scope="profile")

    def is_led_on(sent: Request) -> bool:
        return sent.url.startswith(f"{uri}?code=")

    woods.ask(visitor, address)
    with visitor.page.expect_request(is_led_on):
        visitor.press("Allow")
    visitor.context.clear_cookies()
    visitor.page = visitor.context.new_page()  # the other one still waits for somebody to answer
    visitor.go(address)
    with visitor.page.expect_request(is_led_on):
        woods.enter(visitor)
