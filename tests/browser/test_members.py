"""Members by keyboard, and times in a person's zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Owner, Visitor
from tests.browser.test_keyboard import press, reach, write
from tests.make import new_email

pytestmark = pytest.mark.trial


def test_members_by_keyboard(forester: Visitor, instance: Instance) -> None:
    email, page = new_email(), forester.page
    forester.go("/members")
    write(forester, Email=email)
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    press(forester, "Send the invitation")
    expect(page.locator(".rows .tag")).to_have_text("editor")
    press(forester, email)
    page.get_by_role("heading", name=email.partition("@")[0]).wait_for()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.locator(":focus").get_attribute("value") == "editor":
            break
    page.keyboard.press("ArrowDown")
    press(forester, "Save the role")
    expect(page.locator(".rows .tag")).to_have_text("admin")
    reach(forester, f"Withdraw the invitation of {email}")
    page.keyboard.press("Enter")
    expect(page.locator(":focus")).to_have_text("Cancel")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Enter")  # the focus is back on the button
    reach(forester, "Withdraw")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("is withdrawn")


def save_times(visitor: Visitor) -> str:
    """Save the zone and the locale. Returns the time that the page then shows."""
    with visitor.page.expect_navigation():
        visitor.page.locator("[action='/profile/times'] button:not([type])").click()
    return visitor.page.locator("#formats-title ~ p time[title]").inner_text()  # is complete


def test_times_in_the_zone_that_was_chosen(chrome: Browser, instance: Instance) -> None:
    visitor = Owner(chrome, instance, timezone_id="Asia/Tokyo", locale="de-DE")
    page = visitor.go("/profile")
    offer = page.locator("#zone-offer")
    expect(offer).to_contain_text("Your browser is in Asia/Tokyo.")
    offer.get_by_role("button").click()
    assert page.get_by_label("Time zone").input_value() == "Asia/Tokyo"
    page.get_by_label("Time zone").select_option("America/New_York")
    page.locator("[name=locale]").select_option("en-US")
    shown = save_times(visitor)
    expect(page.get_by_role("status")).to_contain_text("Numbers and dates are shown this way now.")
    now = datetime.now(UTC).astimezone(ZoneInfo("America/New_York"))
    moment = datetime.strptime(shown, "%m/%d/%Y, %I:%M %p")
    assert abs(moment - now.replace(tzinfo=None)) < timedelta(minutes=2)
    page.locator("[name=locale]").select_option("")
    assert re.fullmatch(rf"{now:%d.%m.%Y}, \d\d:\d\d", save_times(visitor))  # as German browsers do
    page.get_by_label("Time zone").select_option("")
    page.locator("[name=locale]").select_option("en-AU")
    moment = datetime.strptime(save_times(visitor), "%d/%m/%Y, %I:%M %p")
    tokyo = datetime.now(UTC).astimezone(ZoneInfo("Asia/Tokyo"))
    assert abs(moment - tokyo.replace(tzinfo=None)) < timedelta(minutes=2)
    visitor.leave()
