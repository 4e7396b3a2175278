"""An application is registered, gets a new secret and is deleted, without a mouse."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Visitor
from tests.browser.test_keyboard import press, push, reach, write


@pytest.mark.trial
def test_an_application_by_keyboard(forester: Visitor) -> None:
    page = forester.go("/applications")
    press(forester, "Register an application")
    write(forester, Name="Map of Woods", Redirect_URIs="https://map.example.org/back")
    reach(forester, "See projects and check geometries projects:read")
    page.keyboard.press("Space")
    press(forester, "Register")
    assert forester.heading == "Map of Woods is registered"
    reach(forester, "Copy the client secret")
    secret = page.locator("#client-secret").inner_text()
    press(forester, "Done")
    push(forester, "Rotate the secret…")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("0")
    press(forester, "Rotate")
    assert page.locator("#client-secret").inner_text() not in ("", secret)
    assert "The former secret no longer works." in page.locator("main").inner_text()
    push(forester, "Delete…")
    press(forester, "Delete for good")
    assert page.get_by_role("status").inner_text() == "Map of Woods deleted."
    assert forester.path == "/applications"
