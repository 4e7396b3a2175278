"""The instance's own map on pages: drawn from its file, and from nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.basemap.own import FILE
from config import load_settings
from tests.basemap.planet import LAND, make_planet
from tests.browser.conftest import Instance, Owner
from tests.browser.forest_scenes import settle
from tests.browser.tiles import instance_beside
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

MIDDLE = ((LAND[1] + LAND[3]) / 2, (LAND[0] + LAND[2]) / 2)
# The colors of the tiles, most frequent first; empty while some are missing.
COLORS = """() => {
  const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const counts = new Map();
  for (const canvas of document.querySelectorAll("#map .leaflet-tile-pane canvas")) {
    if (!canvas.classList.contains("leaflet-tile-loaded")) return [];
    copy.canvas.width = canvas.width;
    copy.canvas.height = canvas.height;
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4 * 13) {
      const color = data.slice(at, at + 3).join();
      if (data[at + 3] === 255) counts.set(color, (counts.get(color) ?? 0) + 1);
    }
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([color]) => color);
}"""
EARTH, WATER, DARK = "226,223,218", "128,222,234", "31,31,31"


@pytest.fixture(scope="module")
def mapped(instance: Instance, scratch: Path) -> Iterator[Instance]:
    """The same instance, with a map of its own."""
    (folder := scratch / "mapped").mkdir()
    make_planet(folder / FILE)
    settings = replace(load_settings(instance.environment), instance_path=folder)
    with instance_beside(instance, settings) as made:
        yield made


@pytest.fixture
def reader(chrome: Browser, mapped: Instance) -> Iterator[Owner]:
    owner = Owner(chrome, mapped)
    yield owner
    owner.leave()


def _look(owner: Owner, zoom: int, lat: float, lon: float) -> Page:
    owner.page.goto("about:blank")  # else only the address changes
    page = owner.go(f"/projects#map={zoom}/{lat}/{lon}")
    settle(owner)
    return page


def _colors(page: Page) -> list[str]:
    colors: list[str] = wait_for(lambda: page.evaluate(COLORS))
    return colors


def test_every_zoom_is_drawn_from_the_file_alone(reader: Owner) -> None:
    """Nobody else is asked, or ``leave`` fails."""
    asked: list[str] = []
    reader.context.on("response", lambda each: asked.append(f"{each.status} {each.url}"))
    for zoom in range(1, 18):
        page = _look(reader, zoom, *MIDDLE)
        assert EARTH in _colors(page), zoom
        assert len(_colors(page)) > 5, zoom  # roads, forests, names
        assert WATER in _colors(page) or zoom not in range(10, 15), zoom  # rivers
    assert any(each.startswith("206") and f"/map/{FILE}?" in each for each in asked)
    expect(page.locator(".leaflet-control-attribution")).to_contain_text(
        "Protomaps © OpenStreetMap"
    )


def test_where_there_is_no_tile_the_one_above_is_enlarged(reader: Owner) -> None:
    assert _colors(_look(reader, 13, -30, -100))[0] == WATER  # the file ends at zoom 5
    assert EARTH in _colors(_look(reader, 14, LAND[1] - 0.05, LAND[0] - 0.05))


def test_it_turns_dark_with_the_page(reader: Owner) -> None:
    page = _look(reader, 14, *MIDDLE)
    assert EARTH in _colors(page)
    page.emulate_media(color_scheme="dark")
    wait_for(lambda: DARK in _colors(page) and EARTH not in _colors(page))
    page.emulate_media(color_scheme="light")
    wait_for(lambda: EARTH in _colors(page))


def test_it_is_told_that_the_map_does_not_come(reader: Owner) -> None:
    reader.page.route(f"**/{FILE}*", lambda route: route.fulfill(status=503))
    page = _look(reader, 8, *MIDDLE)
    note = page.locator(".layer-note")
    expect(note).to_contain_text("Own map: the server refuses, or does not reply.")
    page.unroute(f"**/{FILE}*")
    page.get_by_role("button", name="Zoom in").click()
    expect(note).to_be_empty()
    assert EARTH in _colors(page)


def test_a_new_map_is_shown_by_pages_that_have_the_former(
    reader: Owner, mapped: Instance, scratch: Path
) -> None:
    page = _look(reader, 14, *MIDDLE)
    make_planet(scratch / "newer", (0, 0, 0.1, 0.1)).replace(scratch / "mapped" / FILE)
    try:
        for _ in range(3):
            page.get_by_role("button", name="Zoom out").click()
            settle(reader)
        wait_for(lambda: _colors(page)[0] == WATER)
    finally:
        make_planet(scratch / "again").replace(scratch / "mapped" / FILE)
