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
# The place, in pixels of the page, of the painted pixel of a layer's tiles that is furthest to the
# right.
RIGHTMOST = """(layer) => {
  let found = [-1, -1];
  for (const canvas of layer.querySelectorAll("canvas")) {
    const context = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const { x: left, y: top, width } = canvas.getBoundingClientRect();
    for (let at = 0; at < data.length / 4; at++) {
      if (data[4 * at + 3] < 70) continue;
      const [x, y] = [at % canvas.width, Math.floor(at / canvas.width)];
      const scale = width / canvas.width;
      const place = [left + (x + 0.5) * scale, top + (y + 0.5) * scale];
      if (place[0] > found[0]) found = place;
    }
  }
  return found;
}"""


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
    page.get_by_role("link", name="Young", exact=True).click()
    expect(page.locator("li.chosen")).to_contain_text("Young")
    expect(page.locator("path.chosen")).to_have_count(1)
    page.get_by_text("Rejected (1)").click()
    expect(page.locator("#features li[data-number]")).to_have_count(1)
    expect(page.locator("#map path")).to_have_count(2)
    page.get_by_role("link", name="Show it: 50").click()
    page.locator("path.fault").click()
    expect(page.locator("li.chosen")).to_have_count(1)
    page.get_by_role("link", name="All", exact=True).click()
    page.get_by_role("link", name="Rename feature 2, Young").click()
    page.get_by_role("textbox", name="Name of feature 2").fill("Old")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(page.get_by_role("link", name="Old", exact=True)).to_be_visible(timeout=SECONDS)
    page.get_by_role("button", name="Apply: create 2 projects").click()
    page.get_by_role("button", name="Undo import…").click(timeout=SECONDS)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("deletes the 2 projects that it created")
    dialog.get_by_role("button", name="Undo import").click()
    expect(page.get_by_text("2 features undone")).to_be_visible(timeout=SECONDS)


@pytest.mark.slow
def test_features_are_left_out_and_faults_shown_where_they_are(
    forester: Visitor, tmp_path: Path
) -> None:
    file = tmp_path / "stands.geojson"
    shapes = [feature(square(n / 100, size=0.005), code=f"S{n}", kind="x") for n in range(130)]
    walk = {"type": "LineString", "coordinates": [[9, 50], [9.005, 50.01]]}
    file.write_bytes(collection(*shapes, feature(BOWTIE, code="Bow"), feature(walk, code="Walk")))
    page = forester.go("/imports/new")
    page.set_input_files("#file", file)
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/imports/imp_*")
    expect(page.locator("#map path")).to_have_count(100, timeout=SECONDS)
    assert page.evaluate("document.documentElement.scrollHeight") < 2_000
    box = page.locator(".feature-scroll")
    page.get_by_role("checkbox", name="Import feature 60,").scroll_into_view_if_needed()
    scrolled = box.evaluate("one => one.scrollTop")
    assert scrolled > 0
    for number in (60, 61):
        page.get_by_role("checkbox", name=f"Import feature {number},").click()
    expect(page.locator("#headline")).to_contain_text("128 new, 2 rejected, 2 left out")
    expect(page.locator("#map path.left-out")).to_have_count(2)
    assert box.evaluate("one => one.scrollTop") == scrolled
    # The map also has the features of the other page of the list, and leads to them.
    page.mouse.click(*page.locator(".leaflet-layer[style*='z-index: 2']").evaluate(RIGHTMOST))
    page.wait_for_url("**feature=131*")
    expect(page.locator("li.chosen")).to_contain_text("131")
    page.get_by_role("link", name="Left out (2)").click()
    expect(page.locator("#features li[data-number]")).to_have_count(2)
    page.get_by_role("checkbox", name="Import feature 61,").click()
    expect(page.locator("#headline")).to_contain_text("129 new, 2 rejected, 1 left out")
    page.get_by_role("link", name="Show it: feature 131").click()
    page.wait_for_url("**feature=131*")
    expect(page.locator("li.chosen")).to_contain_text("Two sides cross or touch here")
    expect(page.locator("li.chosen")).to_be_in_viewport()
    expect(page.locator("path.fault")).to_be_in_viewport()
    page.get_by_role("button", name="Apply: create 129 projects").click()
    expect(page.get_by_text("Applied", exact=True)).to_be_visible(timeout=SECONDS)


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
    expect(page.get_by_role("alert")).to_contain_text("53.5 MB, and can have 50 MB")
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
