"""Somebody who runs the instance: what they see and set, and what others see of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Visitor, new_address, sign_up
from tests.browser.operator_scenes import confirm, end_confirmation

pytestmark = pytest.mark.slow


@pytest.fixture
def operator(chrome: Browser, instance: Instance) -> Iterator[Visitor]:
    """An operator with scripts turned on, who sets nothing for longer than a test."""
    made, email = Visitor(chrome, instance), new_address(instance)
    sign_up(made, email, f"Alder {email}")
    instance.canopy("operator", "add", email)
    end_confirmation(instance, email)
    yield made
    page = made.go("/operator")
    for button in ("Open sign-up", "Remove the message"):
        if page.get_by_role("button", name=button).is_visible():
            made.press(button)
            confirm(made)
    made.leave()


def test_a_plan_is_changed(operator: Visitor, instance: Instance) -> None:
    page = operator.go("/projects")
    page.get_by_role("link", name="Operator", exact=True).click()
    expect(page.get_by_role("heading", name="Health")).to_be_visible()
    page.get_by_role("link", name="Accounts", exact=True).click()
    page.get_by_label("Name or short name").fill("ALDER PERSON")
    operator.press("Show")
    page.locator(".listed a").first.click()
    page.locator("#plan").select_option("pro")
    operator.press("Change the plan")
    assert operator.heading == "Confirm that it is you"
    operator.fill(confirm_password="not that one")
    operator.press("Continue")
    expect(page.get_by_text("That is not your current password.")).to_be_visible()
    confirm(operator)
    expect(page.get_by_text("The plan is now pro.")).to_be_visible()
    assert "Plan: pro" in operator.go("/settings").content()
    entry = operator.go("/audit-log").locator(".entry").first
    expect(entry).to_contain_text("Operator changed the account")
    expect(operator.go("/operator/log").locator(".entry").first).to_contain_text("@example.org")


@pytest.mark.trial
def test_sign_up_is_closed_and_opened(operator: Visitor, visitor: Visitor) -> None:
    visitor.go("/register")
    assert visitor.heading == "Sign up"
    operator.go("/operator")
    operator.press("Close sign-up")
    confirm(operator)
    expect(operator.page.get_by_text("Nobody has been able to sign up since")).to_be_visible()
    visitor.go("/register")
    assert visitor.heading == "Sign-up is closed"
    expect(visitor.go("/login").get_by_role("link", name="Sign up")).to_have_count(0)
    operator.press("Open sign-up")
    expect(operator.page.get_by_text("Anybody can sign up.")).to_be_visible()
    visitor.go("/register")
    assert visitor.heading == "Sign up"


@pytest.mark.trial
def test_a_message_is_shown_and_removed(operator: Visitor, visitor: Visitor) -> None:
    page = operator.go("/operator")
    page.locator("[name=text]").fill("<b>Upgrade</b> tonight")
    page.locator("[name=until]").fill("2100-01-31T14:05")
    operator.press("Show the message")
    confirm(operator)
    banner = "[role=status][aria-label^='Message of']"
    expect(page.locator(banner)).to_have_text("<b>Upgrade</b> tonight")
    expect(page.get_by_text("Shown at the top of every page until")).to_contain_text("2100")
    for path in ("/login", "/docs", "/nothing"):
        expect(visitor.go(path).locator(banner)).to_have_text("<b>Upgrade</b> tonight")
    operator.press("Remove the message")
    expect(page.get_by_text("The message has been removed.")).to_be_visible()
    expect(visitor.go("/login").locator(banner)).to_have_count(0)


@pytest.mark.trial
def test_a_rejected_form_is_shown(operator: Visitor) -> None:
    """However far below the top of its page it is."""
    page = operator.go("/operator")
    operator.press("Show the message")
    expect(page.get_by_text("Required.")).to_be_in_viewport()
    expect(page.locator("[name=text]")).to_be_focused()
    page.set_viewport_size({"width": 1280, "height": 480})
    operator.go("/settings")
    operator.press("Require a second factor")
    expect(page.get_by_role("alert")).to_be_in_viewport()
    page.get_by_role("link", name="Turn on a second factor in your profile").click()
    assert operator.path == "/profile/second-factor"


@pytest.mark.trial
def test_the_instance_is_checked(operator: Visitor) -> None:
    """The page follows it by itself."""
    page = operator.go("/operator")
    check = page.get_by_role("button", name="Check now")
    expect(check).to_be_visible(timeout=150_000)
    check.click()
    expect(page.get_by_text("Checked less than a minute ago")).to_be_visible(timeout=150_000)
    expect(check).to_be_visible(timeout=150_000)
