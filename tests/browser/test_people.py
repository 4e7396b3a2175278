"""Signing up, in and out, invitations and passwords, in a real browser without scripts."""

from __future__ import annotations

import itertools
import json

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Visitor, new_address, sign_up
from tests.make.browser import PASSWORD

_numbers = itertools.count(1)
NEW = "lichen on the north side"


def sign_in(visitor: Visitor, email: str, password: str = PASSWORD) -> None:
    visitor.go("/login")
    visitor.fill(email=email, password=password)
    visitor.press("Sign in")
    visitor.move()


def api_key(instance: Instance, account: str) -> str:
    made = instance.canopy(
        "key", "create", "--account", account, "--name", "test", "--permission", "admin", "--json"
    )
    return str(json.loads(made)["key"])


def test_signing_up_out_and_in(visitor: Visitor, instance: Instance) -> None:
    email = new_address(instance)
    sign_up(visitor, email)
    assert "Hazel Woods" in visitor.go("/accounts").locator("main").inner_text()
    visitor.choose("You", "Sign out")
    assert visitor.path == "/login"
    sign_in(visitor, email)
    assert visitor.path == "/welcome"
    visitor.go("/profile")
    assert "confirmed" in visitor.page.locator("main").inner_text()


def test_resetting_a_forgotten_password(visitor: Visitor, instance: Instance) -> None:
    email = new_address(instance)
    sign_up(visitor, email)
    visitor.choose("You", "Sign out")
    visitor.page.get_by_role("link", name="Forgot your password?").click()
    visitor.fill(email=email)
    visitor.press("Email me a link")
    visitor.go(instance.link_to(email, 2))
    visitor.fill(password=NEW)
    visitor.press("Set password")
    assert visitor.path == "/welcome"
    assert "changed" in str(instance.mail_to(email, 3)["Subject"]).lower()


def test_a_new_person_is_invited_and_joins(
    visitor: Visitor, instance: Instance, chrome: Browser
) -> None:
    owner, guest = new_address(instance), new_address(instance)
    sign_up(visitor, owner, account=f"Grove {next(_numbers)} of {id(instance)}")
    slug = visitor.go("/accounts").locator("main code").first.inner_text()
    response = visitor.context.request.post(
        f"{instance.url}/v1/account/members/invite",
        headers={"Authorization": f"Bearer {api_key(instance, slug)}"},
        data={"email": guest, "role": "viewer"},
    )
    assert response.status == 201, response.text()
    other = Visitor(chrome, instance, java_script_enabled=False)
    other.go(instance.link_to(guest))
    other.fill(name="Guest", password=PASSWORD)
    other.press("Join")
    assert other.path == "/projects"
    other.go("/accounts")
    assert "You are a viewer" in other.page.locator("main").inner_text()
    other.leave()


def test_changing_the_profile_and_ending_sessions(
    visitor: Visitor, instance: Instance, chrome: Browser
) -> None:
    email = new_address(instance)
    sign_up(visitor, email)
    elsewhere = Visitor(chrome, instance, java_script_enabled=False)
    sign_in(elsewhere, email)
    visitor.go("/profile")
    visitor.fill(name="Jo Alder")
    visitor.press("Save")
    assert visitor.page.get_by_role("status").inner_text() == "Name saved."
    assert visitor.page.locator(".rows li").count() == 2
    visitor.press("Sign out everywhere else")
    expect(visitor.page.locator(".rows li")).to_have_count(1)
    elsewhere.go("/profile")
    assert elsewhere.heading == "Sign in"
    elsewhere.leave()
    visitor.fill(password=PASSWORD, new_password=NEW)
    visitor.press("Change password")
    assert "Password changed" in visitor.page.get_by_role("status").inner_text()


def test_an_invalid_form_keeps_its_input_and_shows_the_errors(visitor: Visitor) -> None:
    visitor.go("/register")
    visitor.fill(name="Jo", email="nobody", password="password123", account_name="Grove")
    visitor.press("Sign up")
    page = visitor.page
    assert page.get_by_role("alert").count() == 1
    assert page.get_by_label("Your name").input_value() == "Jo"
    email = page.get_by_label("Email")
    assert email.get_attribute("aria-invalid") == "true"
    message = page.locator(f"#{str(email.get_attribute('aria-describedby')).split()[-1]}")
    assert "jo@example.org" in message.inner_text()


@pytest.mark.parametrize("path", ["/register", "/login", "/forgot-password"])
def test_submitting_a_form_by_keyboard(visitor: Visitor, path: str) -> None:
    visitor.go(path)
    page = visitor.page
    fields = page.locator("main input:visible").count()
    page.keyboard.press("Tab")
    focused = page.locator(":focus")
    assert focused.inner_text() == "Skip to content"
    page.keyboard.press("Enter")
    for _ in range(fields):
        page.keyboard.press("Tab")
        page.keyboard.type("x")
    page.keyboard.press("Enter")
    page.locator("[aria-invalid]").first.wait_for()
