"""The first page of operators with scripts: it shows what was rejected, and follows the checks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Visitor, sign_up
from tests.make import new_email

pytestmark = pytest.mark.trial


@pytest.fixture
def operator(chrome: Browser, instance: Instance) -> Iterator[Visitor]:
    visitor, email = Visitor(chrome, instance), new_email()
    sign_up(visitor, email, f"Alder {email}")
    instance.canopy("operator", "add", email)
    yield visitor
    visitor.leave()


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


def test_the_instance_is_checked(operator: Visitor) -> None:
    """The page follows it by itself."""
    page = operator.go("/operator")
    check = page.get_by_role("button", name="Check now")
    expect(check).to_be_visible(timeout=150_000)
    check.click()
    expect(page.get_by_text("Checked less than a minute ago")).to_be_visible(timeout=150_000)
    expect(check).to_be_visible(timeout=150_000)
