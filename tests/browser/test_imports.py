"""Imports with scripts: a file is uploaded, followed, looked at on the map, applied and undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.make import square
from tests.make.features import collection, feature

BOWTIE = {
    "type": "Polygon",
    "coordinates": [[[10, 50], [10.01, 50.01], [10.01, 50], [10, 50.01], [10, 50]]],
}
HOSTILE = "<img src=x onerror=alert(1)>"
SECONDS = 60_000  # milliseconds


def test_a_file_is_uploaded_looked_at_applied_and_undone(forester: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "forests.geojson"
    file.write_bytes(
        collection(
            feature(square(), name=HOSTILE), feature(square(11), name="Young"), feature(BOWTIE)
        )
    )
    page = forester.go("/imports/new")
    page.set_input_files("#file", file)
    expect(page.locator("#file-chosen")).to_contain_text("forests.geojson")
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/imports/imp_*")
    expect(page.locator("#map path")).to_have_count(4, timeout=SECONDS)
    page.get_by_text("Young", exact=True).click()
    expect(page.locator("li.chosen")).to_contain_text("Young")
    expect(page.locator("path.chosen")).to_have_count(1)
    page.get_by_text("Rejected (1)").click()
    expect(page.locator("#features li[data-number]")).to_have_count(1)
    expect(page.locator("#map path")).to_have_count(2)
    page.get_by_text("Show the place").click()
    page.locator("path.fault").click()
    expect(page.locator("li.chosen")).to_have_count(1)
    page.get_by_role("button", name="Apply: create 2 projects").click()
    page.get_by_role("button", name="Undo import…").click(timeout=SECONDS)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("deletes the 2 projects that it created")
    dialog.get_by_role("button", name="Undo import").click()
    expect(page.get_by_text("2 features undone")).to_be_visible(timeout=SECONDS)


@pytest.mark.trial
def test_a_file_that_is_too_large_is_not_sent(forester: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "large.geojson"
    with file.open("wb") as opened:
        opened.truncate(51 * 1024 * 1024)
    page = forester.go("/imports/new")
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else 0)
    page.set_input_files("#file", file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("alert")).to_contain_text("51 MB, and can have 50 MB")
    assert posts == []


@pytest.mark.trial
def test_what_the_server_refuses_stands_beside_the_file(forester: Visitor, tmp_path: Path) -> None:
    file = tmp_path / f"{'a' * 200}.kml"
    file.write_text("<kml/>")
    page = forester.go("/imports/new")
    page.set_input_files("#file", file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("alert")).to_contain_text("a name of at most 200 characters")
    expect(page.get_by_role("button", name="Upload")).to_be_enabled()
