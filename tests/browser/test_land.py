"""The map of our own files: what it draws, and that it loads no more than it shows."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from config import ROOT
from tests.browser.conftest import PHONE, Owner
from tests.make import square
from tests.node import skip
from tests.waiting import wait_for

TILES = ROOT / "app/site/static/third_party/map"
# Of the canvases with land: how many pixels are the blue of rivers, which is more so than the sea.
BLUE = """canvases => canvases.reduce((sum, canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < data.length; at += 4) sum += data[at + 2] - data[at] > 40;
  return sum;
}, 0)"""
LOADED = """() => performance.getEntriesByType("resource")
  .filter(({ name }) => name.includes("/map/"))
  .map(({ name, transferSize }) => [name.split("/map/")[1], transferSize])"""


@pytest.fixture(autouse=True)
def _needs_tiles() -> None:
    if not (TILES / "7").is_dir():
        skip("set-up could not make the tiles of the map")


def loaded(page: Page) -> dict[str, int]:
    """The files of the map that were loaded, and the bytes of each that came from the server."""
    (worker,) = page.workers
    return dict(worker.evaluate(LOADED))


def show(forester: Owner, view: str) -> Page:
    """The map of projects at a view: zoom/latitude/longitude, in a new page."""
    forester.go("/welcome")
    page = forester.go(f"/projects#map={view}")
    expect(
        page.locator(".leaflet-tile-container canvas.leaflet-tile-loaded").first
    ).to_be_attached()
    return page


def boxes(found: Locator) -> list[dict[str, float]]:
    return found.evaluate_all("all => all.map((each) => each.getBoundingClientRect().toJSON())")


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    across = one["left"] < other["right"] and other["left"] < one["right"]
    return across and one["top"] < other["bottom"] and other["top"] < one["bottom"]


def overlaps(some: list[dict[str, float]], others: list[dict[str, float]]) -> bool:
    """True if one of some is over another one of them, or over one of the others."""
    pairs = [*itertools.combinations(some, 2), *itertools.product(some, others)]
    return any(overlap(*pair) for pair in pairs)


def test_rivers_and_towns_are_drawn_from_the_files_of_the_view_and_kept(forester: Owner) -> None:
    forester.expected.append("getImageData")  # it can be told that pixels are read again and again
    page = show(forester, "8/47.2/19.1")
    expect(page.locator(".town-name.large").get_by_text("Budapest", exact=True)).to_be_visible()
    wait_for(lambda: page.locator(".leaflet-land-pane canvas").evaluate_all(BLUE) > 1000)
    files = loaded(page)
    assert {"index.json", "5/17/11.json"} <= files.keys()
    assert all(name == "index.json" or name.startswith("5/") for name in files)
    assert len(files) <= 7
    assert min(files.values()) > 0
    page = show(forester, "8/47.2/19.1")
    expect(page.locator(".town-name").get_by_text("Budapest", exact=True)).to_be_visible()
    assert loaded(page) == dict.fromkeys(files, 0)


def test_a_village_is_named_where_one_draws(forester: Owner) -> None:
    page = show(forester, "13/46.4525/22.9516")
    expect(page.locator(".town-name").get_by_text("Albac", exact=True)).to_be_visible()
    assert {name.split("/")[0] for name in loaded(page)} == {"index.json", "5", "7"}


def test_names_and_numbers_overlap_nothing(forester: Owner) -> None:
    forester.post("/v1/projects", name="A forest at Graz", geometry=square(15.4, 47, 0.2))
    page = show(forester, "6/46/16")
    expect(page.locator(".shape-name")).to_be_visible()
    for size in ({"width": 1280, "height": 800}, PHONE):
        page.set_viewport_size(size)
        expect(page.locator(".town-name").get_by_text("Zagreb", exact=True)).to_be_visible()
        numbers = page.locator(".graticule-numbers > span:not([hidden])")
        assert {"16°\u00a0E", "18°\u00a0E", "46°\u00a0N"} <= set(numbers.all_inner_texts())
        names = page.locator(":is(.town-name, .country-name) > bdi")
        others = page.locator("#map .leaflet-control, .shape-name").or_(numbers)
        wait_for(lambda: not overlaps(boxes(names), boxes(others)))  # noqa: B023
        assert not overlaps(boxes(numbers), boxes(page.locator("#map .leaflet-control")))
    hidden: Any = page.locator("#map [aria-hidden] .town-name, [aria-hidden].graticule-numbers")
    assert hidden.count() > 1


def test_numbers_across_the_antimeridian_and_names_beyond_it(forester: Owner) -> None:
    page = show(forester, "6/-17/179")
    expect(page.locator(".town-name").get_by_text("Suva", exact=True)).to_be_visible()
    numbers = page.locator(".graticule-numbers > span:not([hidden])").all_inner_texts()
    assert {"178°\u00a0E", "180°", "178°\u00a0W", "16°\u00a0S"} <= set(numbers)
