"""A second factor as people have it: turned on, used, lost, required by their account."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Visitor, new_address, sign_up
from tests.browser.second_factor import (
    OWN,
    add_authenticator,
    at_localhost,
    forget_confirmations,
    sign_in,
    turn_on,
)
from tests.make.browser import PASSWORD

STEP = "/login/second-factor"


def text_of(visitor: Visitor) -> str:
    return visitor.page.locator("main").inner_text()


@pytest.mark.slow
def test_an_app_is_turned_on_used_lost_and_recovered(visitor: Visitor, instance: Instance) -> None:
    """Without scripts."""
    email = new_address(instance)
    sign_up(visitor, email)
    app = turn_on(visitor)
    assert "second factor" in str(instance.mail_to(email, 2)["Subject"])
    visitor.choose("You", "Sign out")
    sign_in(visitor, email)
    assert visitor.path == STEP
    visitor.fill(second_factor_code=app.wrong())
    visitor.press("Sign in")
    assert visitor.page.locator("[aria-invalid]").count() == 1
    visitor.fill(second_factor_code=app.next_code())
    visitor.press("Sign in")
    assert visitor.path == "/welcome"
    visitor.choose("You", "Sign out")
    sign_in(visitor, email)
    visitor.page.get_by_text("Use a recovery code").click()
    visitor.fill(second_factor_recovery_code=app.codes[3])
    visitor.page.locator("details button").click()
    assert "9 are left" in visitor.page.get_by_role("status").inner_text()
    visitor.choose("You", "Sign out")
    instance.canopy("user", "reset-second-factor", email)
    assert "reset" in str(instance.mail_to(email, 4)["Subject"])
    sign_in(visitor, email)
    assert visitor.path == "/welcome"


@pytest.mark.trial
def test_recovery_codes_are_downloaded(instance: Instance, chrome: Browser) -> None:
    visitor = Visitor(chrome, instance)
    sign_up(visitor, new_address(instance))
    app = turn_on(visitor)
    with visitor.page.expect_download() as waited:
        visitor.press("Download them")
    saved = waited.value
    assert saved.suggested_filename == "canopy-recovery-codes.txt"
    assert saved.path().read_text().splitlines() == app.codes
    assert not any(code in saved.url for code in app.codes)
    visitor.leave()


@pytest.mark.trial
def test_an_account_requires_it(visitor: Visitor, instance: Instance, chrome: Browser) -> None:
    owner, guest = new_address(instance), new_address(instance)
    sign_up(visitor, owner, account=f"Careful Grove {id(instance)}")
    slug = visitor.go("/accounts").locator("main code").first.inner_text()
    turn_on(visitor)
    added = instance.canopy("member", "add", guest, "--account", slug, "--role", "editor", "--json")
    member = Visitor(chrome, instance, java_script_enabled=False)
    member.go(str(json.loads(added)["link"]))
    member.fill(name="Guest", password=PASSWORD)
    member.press("Join")
    assert member.path == "/projects"
    visitor.go("/settings")
    visitor.fill(grace_days="0")
    visitor.press("Require a second factor")
    assert "Members need a second factor now" in visitor.page.get_by_role("status").inner_text()
    member.go("/projects")
    assert member.path == OWN
    assert (
        "You cannot use this account until you turn one on."
        in member.page.locator("body").inner_text()
    )
    turn_on(member)
    member.go("/projects")
    assert member.path == "/projects"
    visitor.go("/members")
    expect(visitor.page.locator("td[data-label='Second factor']")).to_have_text(["on", "on"])
    member.leave()


@pytest.mark.slow
def test_passkeys(visitor: Visitor, instance: Instance, chrome: Browser) -> None:
    email = new_address(instance)
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


@pytest.mark.trial
def test_a_browser_without_passkeys_says_so(
    visitor: Visitor, instance: Instance, chrome: Browser
) -> None:
    email = new_address(instance)
    sign_up(visitor, email)
    forester = at_localhost(chrome, instance)
    forester.context.add_init_script("delete window.PublicKeyCredential")
    sign_in(forester, email)
    forester.go(OWN)
    forester.press("Add a passkey")
    expect(forester.page.locator("[data-passkey-problem]")).to_contain_text(
        "does not support passkeys"
    )
    expect(forester.page.locator("form[data-passkey] button")).to_be_disabled()
    forester.leave()
    visitor.go(OWN)
    assert "cannot create passkeys for an IP address" in text_of(visitor)
