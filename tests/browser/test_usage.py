"""The page of usage with scripts: it follows what happens, and shows one key of several."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.browser.usage_scenes import fill

pytestmark = pytest.mark.slow

SECONDS = 60_000  # milliseconds


def test_requests_appear_by_themselves_and_by_key(forester: Visitor, tmp_path: Path) -> None:
    slug = forester.go("/accounts").locator("main li code").first.inner_text()
    printed = forester.instance.canopy(
        "key", "create", "--account", slug, "--name", "Field", "--permission", "projects:read"
    )
    key = next(word for word in printed.split() if word.startswith("canopy_key_"))
    page = forester.go("/usage")
    expect(page.get_by_text("No requests in the last 30 days.")).to_be_visible()
    for _ in range(3):
        headers = {"Authorization": f"Bearer {key}"}
        page.request.get(f"{forester.instance.url}/v1/projects", headers=headers)
    expect(page.get_by_text("3 requests in the last 30 days")).to_be_visible(timeout=SECONDS)
    page.get_by_role("link", name="Field").click()
    expect(page.get_by_text("3 of 3 requests")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    file = tmp_path / "requests.csv"
    download.value.save_as(file)
    assert file.read_text().splitlines()[1].endswith(",api_key,Field,3")


@pytest.mark.trial
def test_by_keyboard_alone(forester: Visitor) -> None:
    slug = forester.go("/accounts").locator("main li code").first.inner_text()
    fill(forester, slug)
    page = forester.go("/usage")
    page.get_by_role("link", name="7 days").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/usage?days=7#requests")
    page.get_by_role("link", name="CSV").focus()
    page.keyboard.press("Tab")  # the table of the chart
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Requests per day (UTC)")).to_be_visible()
    page.locator(".callers a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**credential=key_*")
    expect(page.locator(".callers .is-chosen")).to_have_count(1)
    page.get_by_role("link", name="Show all").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".callers .is-chosen")).to_have_count(0)
