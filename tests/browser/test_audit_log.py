"""The audit log in a browser: a changed boundary is found, opened and seen."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Owner, Visitor
from tests.make.geometry import square

pytestmark = pytest.mark.slow


def test_a_changed_boundary_is_found_and_seen(forester: Owner) -> None:
    project = forester.post("/v1/projects", name="Hazel dell", geometry=square())
    page = forester.go(f"/projects/{project['id']}/edit")
    page.locator(".as-text summary").click()
    page.locator("#geometry").fill(json.dumps(square(10.02)))
    page.locator("#save").click()
    page.wait_for_url("**/projects/proj_*")

    page.get_by_role("link", name="History in the audit log").click()
    entries = page.locator(".entry")
    expect(entries).to_have_count(2)
    expect(entries.first).to_contain_text("changed the boundary of the project Hazel dell")
    picture = entries.first.locator("img")
    expect(picture).not_to_be_visible()
    entries.first.locator("summary").click()
    picture.evaluate("image => image.decode()")
    assert picture.evaluate("image => image.naturalWidth") > 0
    expect(entries.first).to_contain_text("added")
    expect(entries.first).to_contain_text("Chrome on Linux")

    page.get_by_label("What was done").select_option(label="Created a project")
    forester.press("Show")
    expect(entries).to_have_count(1)
    assert "target_id=proj_" in page.url
    page.get_by_role("link", name="Clear all filters").click()
    page.get_by_label("What was done").select_option(label="Deleted a project")
    forester.press("Show")
    expect(page.get_by_text("No entry matches these filters")).to_be_visible()
    page.get_by_role("link", name="Clear the filters").click()
    expect(entries.first).to_be_visible()


@pytest.mark.trial
def test_without_scripts_it_opens_too(visitor: Visitor, forester: Owner) -> None:
    forester.post("/v1/projects", name="Hazel dell", geometry=square())
    visitor.context.add_cookies(
        [each for each in forester.context.cookies() if "url" not in each]  # type: ignore[misc]
    )
    page = visitor.go("/audit-log")
    first = page.locator(".entry").first
    expect(first.locator(".opened")).not_to_be_visible()
    first.locator("summary").click()
    expect(first.locator(".opened")).to_be_visible()
    expect(page.get_by_label("From (UTC)")).to_be_visible()
