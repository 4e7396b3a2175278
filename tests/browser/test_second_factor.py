"""What only a browser does for a second factor: passkeys, and a file of recovery codes."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Visitor, sign_up
from tests.browser.second_factor import (
    OWN,
    add_authenticator,
    at_localhost,
    forget_confirmations,
    sign_in,
    turn_on,
)
from tests.make import new_email


def text_of(visitor: Visitor) -> str:
    return visitor.page.locator("main").inner_text()


@pytest.mark.trial
def test_recovery_codes_are_downloaded(instance: Instance, chrome: Browser) -> None:
    visitor = Visitor(chrome, instance)
    sign_up(visitor, new_email())
    app = turn_on(visitor)
    with visitor.page.expect_download() as waited:
        visitor.press("Download them")
    saved = waited.value
    assert saved.suggested_filename == "canopy-recovery-codes.txt"
    assert saved.path().read_text().splitlines() == app.codes
    assert not any(code in saved.url for code in app.codes)
    visitor.leave()


@pytest.mark.slow
def test_passkeys(visitor: Visitor, instance: Instance, chrome: Browser) -> None:
    email = new_email()
    sign_up(visitor, email)
    forester = at_localhost(chrome, instance)
    session, device = add_authenticator(forester)
    sign_in(forester, email)
    forester.go(OWN)
    forester.press("Add a passkey")
    forester.fill(name="Phone")
    forester.press("Add a passkey")
    expect(forester.page.locator("h1")).to_have_text("Your recovery codes")
    forester.go(OWN)
    assert "Not used yet" in text_of(forester)

    forester.choose("You", "Sign out")
    sign_in(forester, email)
    forester.press("Use a passkey")
    forester.page.wait_for_url("**/welcome")

    forget_confirmations(instance)
    forester.move()
    forester.go("/api-keys/new")
    forester.fill(name="Nightly")
    forester.page.get_by_label("See the assets of projects").check()
    forester.press("Create API key")
    expect(forester.page.locator("h1")).to_have_text("Confirm that it is you")
    session.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": False})
    held = session.send("WebAuthn.getCredentials", {"authenticatorId": device})["credentials"]
    session.send("WebAuthn.clearCredentials", {"authenticatorId": device})
    forester.press("Use a passkey")
    problem = forester.page.locator("[data-passkey-problem]")
    expect(problem).to_contain_text("canceled, or took too long")
    for credential in held:
        session.send(
            "WebAuthn.addCredential", {"authenticatorId": device, "credential": credential}
        )
    session.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": True})
    forester.press("Use a passkey")
    expect(forester.page.get_by_role("status")).to_contain_text("shown only once")

    forester.go(OWN)
    forester.page.get_by_role("button", name="Remove", exact=False).click()
    forester.page.locator(".dialog:popover-open button.danger").click()
    expect(forester.page.get_by_role("status")).to_contain_text("“Phone” removed")
    forester.choose("You", "Sign out")
    sign_in(forester, email)
    assert forester.path == "/welcome"
    forester.leave()
