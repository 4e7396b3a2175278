"""Every flow by keyboard only."""

from __future__ import annotations

import itertools
from urllib.parse import urlencode

import pytest

from tests.browser.conftest import Instance, Visitor
from tests.make import new_email
from tests.make.browser import PASSWORD

_numbers = itertools.count(1)
MOST = 60  # controls of a page
NAME = (
    "(e) => (e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || '').trim()"
)


def reach(visitor: Visitor, name: str) -> None:
    """Press Tab until the control with this name has the focus, which must be visible."""
    page = visitor.page
    page.wait_for_load_state()
    for _ in range(MOST):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.count() and focused.evaluate(NAME) == name:
            assert focused.evaluate("(e) => getComputedStyle(e).outlineStyle") != "none"
            return
    raise AssertionError(f"{name} cannot be reached on {visitor.path}")


def write(visitor: Visitor, **fields: str) -> None:
    """Focus fields by their labels and type into them; ``_`` stands for a space."""
    for label, text in fields.items():
        reach(visitor, label.replace("_", " "))
        visitor.page.keyboard.press("ControlOrMeta+a")
        visitor.page.keyboard.type(text)


def press(visitor: Visitor, name: str) -> None:
    """Focus a button or link, press it, and wait for the next page."""
    reach(visitor, name)
    with visitor.page.expect_navigation():
        visitor.page.keyboard.press("Enter")


def push(visitor: Visitor, name: str) -> None:
    """Focus a button and press it, on the same page; of a menu, the next Tab is inside."""
    reach(visitor, name)
    visitor.page.keyboard.press("Enter")


@pytest.mark.trial
def test_every_flow_by_keyboard(visitor: Visitor, instance: Instance) -> None:
    email = new_email("keys")
    visitor.go("/register")
    write(visitor, Your_name="Jo", Email=email, Password=PASSWORD)
    write(visitor, Account_name=f"Keys {next(_numbers)}")
    press(visitor, "Sign up")
    visitor.go(instance.link_to(email))
    write(visitor, The_password_you_chose=PASSWORD)
    press(visitor, "Create account")
    assert visitor.path == "/welcome"
    visitor.go("/accounts")

    reach(visitor, "Create another account")
    visitor.page.keyboard.press("Enter")
    write(visitor, Account_name="Second Wood")
    press(visitor, "Create account")
    slug = visitor.page.locator("main li code").first.inner_text()
    push(visitor, "You, Jo")
    press(visitor, "Profile")
    write(visitor, Your_name="Jo Alder")
    press(visitor, "Save")
    assert visitor.page.get_by_role("status").inner_text() == "Name saved."

    back = f"{instance.url}/docs"
    record = instance.canopy(
        "oauth-app", "create", "--account", slug, "--name", "Map of Woods", "--redirect-uri", back,
        "--scope", "profile",
    )  # fmt: skip
    parameters = {
        "client_id": record["client_id"],
        "redirect_uri": back,
        "scope": "profile",
    }
    visitor.go(
        f"/oauth/authorize?{urlencode(parameters | {'response_type': 'code', 'state': 'x'})}"
    )
    press(visitor, "Allow")
    assert visitor.path.startswith("/docs?code=")
    visitor.go("/applications")
    ending = visitor.page.locator("main li button").first.get_attribute("aria-label")
    push(visitor, str(ending))
    press(visitor, "Revoke access")
    assert visitor.page.get_by_role("status").inner_text() == "Access revoked."

    visitor.move()
    push(visitor, "You, Jo Alder")
    press(visitor, "Sign out")
    write(visitor, Email=email, Password=PASSWORD)
    press(visitor, "Sign in")
    assert visitor.path == "/welcome"
