"""Signing up, in and out in a real browser without scripts, and forms by keyboard."""

from __future__ import annotations

from tests.browser.conftest import Instance, Visitor, sign_up
from tests.browser.second_factor import sign_in
from tests.make import new_email


def test_signing_up_out_and_in(visitor: Visitor, instance: Instance) -> None:
    email = new_email()
    sign_up(visitor, email)
    assert "Hazel Woods" in visitor.go("/accounts").locator("main").inner_text()
    visitor.choose("You", "Sign out")
    assert visitor.path == "/login"
    sign_in(visitor, email)
    assert visitor.path == "/welcome"
    visitor.go("/profile")
    assert "confirmed" in visitor.page.locator("main").inner_text()


def test_submitting_a_form_by_keyboard(visitor: Visitor) -> None:
    for path in ("/register", "/login", "/forgot-password"):
        page = visitor.go(path)
        fields = page.locator("main input:visible").count()
        page.keyboard.press("Tab")
        assert page.locator(":focus").inner_text() == "Skip to content"
        page.keyboard.press("Enter")
        for _ in range(fields):
            page.keyboard.press("Tab")
            page.keyboard.type("x")
        page.keyboard.press("Enter")
        page.locator("[aria-invalid]").first.wait_for()
