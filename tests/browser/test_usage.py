"""The page of usage with scripts: it follows what happens, and shows one key of several."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Owner

pytestmark = pytest.mark.slow

SECONDS = 60_000  # milliseconds


def test_requests_appear_by_themselves_and_by_key(forester: Owner, tmp_path: Path) -> None:
    page = forester.go("/usage")
    expect(page.get_by_text("No requests in the last 30 days.")).to_be_visible()
    for _ in range(3):
        headers = {"Authorization": f"Bearer {forester.key}"}
        page.request.get(f"{forester.instance.url}/v1/projects", headers=headers)
    expect(page.get_by_text("3 requests in the last 30 days")).to_be_visible(timeout=SECONDS)
    page.get_by_role("link", name="First key").click()
    expect(page.get_by_text("3 of 3 requests")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    file = tmp_path / "requests.csv"
    download.value.save_as(file)
    assert file.read_text().splitlines()[1].endswith(",api_key,First key,3")
