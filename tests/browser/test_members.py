"""Members from the invitation to the removal, in a real browser; times in a person's zone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Visitor, new_address, sign_up
from tests.browser.test_keyboard import press, reach, write
from tests.browser.test_people import sign_in
from tests.make.browser import PASSWORD

pytestmark = pytest.mark.slow


@pytest.fixture
def guest(chrome: Browser, instance: Instance) -> Iterator[Visitor]:
    made = Visitor(chrome, instance, java_script_enabled=False)
    yield made
    made.leave()


def invite(visitor: Visitor, email: str, role: str = "Viewer") -> None:
    page = visitor.go("/members")
    if not page.get_by_label("Email").is_visible():
        page.locator(".invite summary").click()
    visitor.fill(email=email)
    page.get_by_label(role).check()
    visitor.press("Send the invitation")
    expect(page.get_by_role("status")).to_contain_text(f"on its way to {email}")


def open_member(visitor: Visitor, name: str) -> None:
    visitor.go("/members")
    visitor.page.get_by_role("link", name=f"Change or remove {name}").click()
    assert visitor.heading == name


def set_role(visitor: Visitor, name: str, role: str) -> None:
    open_member(visitor, name)
    visitor.page.get_by_label(role).check()
    visitor.press("Save the role")
    expect(visitor.page.get_by_role("status")).to_contain_text(f"is {role.lower()} now")


def test_from_the_invitation_to_the_removal(
    visitor: Visitor, guest: Visitor, instance: Instance
) -> None:
    """Without scripts, on both sides."""
    email, page = new_address(instance), visitor.page
    sign_up(visitor, new_address(instance))
    invite(visitor, email)
    guest.go(instance.link_to(email))
    visitor.go("/members")
    expect(page.locator(".rows")).to_contain_text("Email sent")
    guest.fill(name="Kim Alder", password=PASSWORD)
    guest.press("Join")
    assert guest.path == "/projects"
    guest.go("/members")
    assert guest.page.get_by_role("link", name="Change").count() == 0
    set_role(visitor, "Kim Alder", "Editor")
    guest.go("/projects/new")
    assert guest.path == "/projects/new"
    open_member(visitor, "Kim Alder")
    expect(page.locator("main")).to_contain_text("Signs them out here, in 1 browser.")
    set_role(visitor, "Kim Alder", "Viewer")
    guest.page.get_by_role("link", name="Projects", exact=True).first.click()
    assert guest.heading == "Sign in"
    sign_in(guest, email)
    open_member(visitor, "Kim Alder")
    page.get_by_role("button", name="Remove Kim Alder").click()
    expect(page.get_by_role("dialog")).to_contain_text("They lose access at once.")
    visitor.press("Remove")
    expect(page.get_by_role("status")).to_contain_text("Kim Alder is removed")
    guest.go("/projects")
    assert guest.heading == "Sign in"


@pytest.mark.trial
def test_when_all_seats_are_taken(visitor: Visitor, instance: Instance) -> None:
    page, emails = visitor.page, [new_address(instance) for _ in range(2)]
    sign_up(visitor, new_address(instance))
    for email in emails:
        invite(visitor, email)
    assert page.get_by_role("heading", name="All seats are taken").is_visible()
    assert page.get_by_label("Email").count() == 0
    page.get_by_role("button", name=f"Withdraw the invitation of {emails[0]}").click()
    visitor.press("Withdraw")
    expect(page.get_by_role("status")).to_contain_text("is withdrawn")
    invite(visitor, new_address(instance))
    page.get_by_role("button", name=f"Send again to {emails[1]}").click()
    expect(page.get_by_role("status")).to_contain_text(
        f"A new invitation is on its way to {emails[1]}"
    )
    assert instance.link_to(emails[1], 2) != instance.link_to(emails[1])


@pytest.mark.trial
def test_members_by_keyboard(forester: Visitor, instance: Instance) -> None:
    email, page = new_address(instance), forester.page
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
    """Save the zone and the form of dates. Returns the time that the page then shows."""
    with visitor.page.expect_navigation():
        visitor.page.locator("[action='/profile/times'] button:not([type])").click()
    return visitor.page.locator("#times ~ p time[title]").inner_text()  # is complete


@pytest.mark.trial
def test_times_in_the_zone_that_was_chosen(chrome: Browser, instance: Instance) -> None:
    visitor = Visitor(chrome, instance, timezone_id="Asia/Tokyo", locale="de-DE")
    sign_up(visitor, new_address(instance))
    page = visitor.go("/profile")
    offer = page.locator("#zone-offer")
    expect(offer).to_contain_text("Your browser is in Asia/Tokyo.")
    offer.get_by_role("button").click()
    assert page.get_by_label("Time zone").input_value() == "Asia/Tokyo"
    page.get_by_label("Time zone").select_option("America/New_York")
    page.locator("[name=date_format]").select_option("us")
    shown = save_times(visitor)
    expect(page.get_by_role("status")).to_contain_text("Times are shown this way now.")
    now = datetime.now(UTC).astimezone(ZoneInfo("America/New_York"))
    moment = datetime.strptime(shown, "%m/%d/%Y, %I:%M %p")
    assert abs(moment - now.replace(tzinfo=None)) < timedelta(minutes=2)
    page.locator("[name=date_format]").select_option("")
    assert re.fullmatch(rf"{now:%d.%m.%Y}, \d\d:\d\d", save_times(visitor))  # as German browsers do
    page.get_by_label("Time zone").select_option("")
    page.locator("[name=date_format]").select_option("slashes_12")
    moment = datetime.strptime(save_times(visitor), "%d/%m/%Y, %I:%M %p")
    tokyo = datetime.now(UTC).astimezone(ZoneInfo("Asia/Tokyo"))
    assert abs(moment - tokyo.replace(tzinfo=None)) < timedelta(minutes=2)
    visitor.leave()
