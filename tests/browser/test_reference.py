"""The reference page on a phone: it begins with its first sentence, not with its contents."""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.browser.conftest import PHONE, Instance, Visitor


def test_on_a_phone_the_contents_are_folded_away(chrome: Browser, instance: Instance) -> None:
    visitor = Visitor(chrome, instance, viewport=PHONE)
    page = visitor.go("/docs")
    begin = page.locator("#get-started").bounding_box()
    assert begin is not None
    assert begin["y"] < PHONE["height"]
    link = page.get_by_role("link", name="Create a project")
    assert link.count() == 1  # the heading of the operation; the contents are folded
    page.get_by_text("Contents", exact=True).click()
    contents = page.get_by_role("navigation", name="Contents of this page")
    contents.get_by_role("link", name="Create a project").click()
    assert visitor.path == "/docs#create_project"
    visitor.leave()
