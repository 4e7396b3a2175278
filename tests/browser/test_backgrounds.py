"""Backgrounds and overlays of maps, from a server of tiles on this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.conftest import Instance, Owner, Visitor, sign_up
from tests.browser.operator_scenes import confirm
from tests.browser.tiles import TileServer, instance_with_layers, tile_of, tile_server
from tests.make import new_email
from tests.waiting import wait_for

# Which of the elements of the map lie over another one, or not wholly on the map.
COLLIDING = """(selector) => {
  const map = document.querySelector("#map");
  const all = map.parentElement.querySelectorAll(selector);
  const seen = [...all].filter((each) => each.checkVisibility());
  const boxes = [map, ...seen].map((each) => each.getBoundingClientRect());
  const [whole, ...rest] = boxes;
  const isIn = (box) => box.left >= whole.left && box.right <= whole.right + 1 &&
    box.top >= whole.top && box.bottom <= whole.bottom + 1;
  const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1 &&
    one.top < other.bottom - 1 && other.top < one.bottom - 1;
  const isFree = (box) => isIn(box) && rest.every((other) => other === box || !meet(box, other));
  return seen.filter((_, number) => rest[number].width && !isFree(rest[number]))
    .map((each) => each.className + ": " + each.textContent);
}"""
LAND = "Natural Earth"  # in the attribution of the map of our own files


@pytest.fixture(scope="module")
def tiles() -> Iterator[TileServer]:
    with tile_server() as server:
        yield server


@pytest.fixture(scope="module")
def mapped(instance: Instance, scratch: Path, tiles: TileServer) -> Iterator[Instance]:
    with instance_with_layers(instance, scratch, tiles) as made:
        yield made


@pytest.fixture
def reader(chrome: Browser, mapped: Instance, tiles: TileServer) -> Iterator[Owner]:
    owner = Owner(chrome, mapped)
    owner.expected.append(f"{tiles.url}/(roads|survey|loss)")
    tiles.take()
    yield owner
    owner.leave()


def switch(page: Page) -> Locator:
    """The switch of the map, opened."""
    box = page.locator(".map-layers")
    if box.get_attribute("open") is None:
        box.locator("summary").click()
    return box


def check_asked(page: Page, server: TileServer, *words: str) -> None:
    """Wait until tiles of these layers have come, and check that no others were asked for."""
    for word in words:
        expect(page.locator(f"img.leaflet-tile-loaded[src*='/{word}']").first).to_be_attached()
    expect(page.locator("img.leaflet-tile:not(.leaflet-tile-loaded)")).to_have_count(0)
    assert server.take() == set(words)


def test_each_layer_asks_its_own_addresses(reader: Owner, tiles: TileServer) -> None:
    page = reader.go("/projects")
    wait_for(lambda: tiles.asked)
    path, referrer = tiles.asked[0]
    assert re.fullmatch(r"/roads/\d+/\d+/\d+\.png", path)
    assert referrer == f"{reader.instance.url}/"
    expect(page.locator(".leaflet-control-attribution")).to_contain_text("The county Example")
    link = page.get_by_role("link", name="Example", exact=True)
    expect(link).to_have_attribute("href", "https://example.org/")
    tile = page.locator("img.leaflet-tile-loaded").first
    expect(tile).to_have_attribute("referrerpolicy", "strict-origin-when-cross-origin")
    check_asked(page, tiles, "roads")

    switch(page).get_by_label("Survey").check()
    wait_for(lambda: tiles.asked)
    query = parse_qs(tiles.asked[0][0].partition("?")[2])
    assert (query["map"], query["layers"], query["request"]) == (["a"], ["one,two"], ["GetMap"])
    check_asked(page, tiles, "survey")
    expect(page.get_by_text(LAND)).to_have_count(0)
    page.get_by_role("button", name="Zoom out").click()  # below its min_zoom
    expect(page.get_by_text(LAND)).to_be_visible()
    page.get_by_role("button", name="Zoom in").click()
    check_asked(page, tiles, "survey")

    box = switch(page)
    expect(box.get_by_text("Pink: lost since 2001.")).to_be_visible()
    box.get_by_label("Loss", exact=True).check()
    check_asked(page, tiles, "loss")
    layer = page.locator(".leaflet-tile-pane .leaflet-layer", has=page.locator("img[src*=loss]"))
    expect(layer).to_have_css("opacity", "0.6")
    box.get_by_label("Opacity of Loss").fill("30")
    expect(layer).to_have_css("opacity", "0.3")

    reader.go("/projects/new")  # another page, with the choice
    check_asked(page, tiles, "survey", "loss")
    expect(switch(page).get_by_label("Survey")).to_be_checked()
    expect(page.get_by_label("Opacity of Loss")).to_have_value("30")
    box.get_by_label("Loss", exact=True).uncheck()
    assert page.workers == []  # which load the map of our own
    box.get_by_label("Plain, works offline").check()
    expect(page.locator("img.leaflet-tile")).to_have_count(0)
    tiles.take()
    page = reader.go("/projects")
    expect(page.locator(".country-name").first).to_be_visible()
    assert tiles.take() == set()
    switch(page).get_by_label("Roads").check()
    expect(page.locator(".country-name, .town-name, .graticule-numbers")).to_have_count(0)
    check_asked(page, tiles, "roads")


def test_a_layer_that_does_not_come_is_told_until_it_does(reader: Owner, tiles: TileServer) -> None:
    note = reader.page.locator(".layer-note")
    tiles.refused = {"roads", "loss"}
    page = reader.go("/projects")
    expect(note).to_contain_text("Roads: the server refuses, or does not reply.")
    expect(page.get_by_text(LAND)).to_be_visible()
    switch(page).get_by_label("Loss", exact=True).check()
    expect(note).to_contain_text("Roads, Loss: the server refuses, or does not reply.")
    tiles.refused = {"loss"}
    page.get_by_role("button", name="Zoom in").click()
    expect(note).to_contain_text("Loss: the server refuses, or does not reply.")
    expect(page.get_by_text(LAND)).to_have_count(0)
    switch(page).get_by_label("Loss", exact=True).uncheck()
    expect(note).to_be_empty()
    tiles.refused = set()


@pytest.mark.parametrize("size", [(390, 844), (640, 400), (1366, 768)])
def test_nothing_on_the_map_is_covered_or_cut_off(
    reader: Owner, tiles: TileServer, size: tuple[int, int]
) -> None:
    """On a phone, and at 200 % as well."""
    page = reader.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    reader.go("/projects")
    switch(page).get_by_label("Survey").check()
    page.locator(".map-layers summary").click()
    page.locator("#map").hover()
    expect(page.locator(".map-coordinates")).not_to_be_empty()
    expect(page.locator(".leaflet-control-attribution")).to_contain_text("A source of it")
    wait_for(lambda: page.evaluate(COLLIDING, ".leaflet-control") == [])
    page.get_by_role("button", name="Go to a place").click()
    place = page.get_by_role("combobox", name="Town, country")
    place.fill("San")
    page.locator("#go-to-places li").first.wait_for()
    assert page.evaluate(COLLIDING, ".go-to input, .go-to ul") == []
    place.fill("45.36, 22.88")
    place.press("Enter")
    page.locator(".go-to-pin").wait_for()
    assert page.evaluate(COLLIDING, ".leaflet-tooltip, .leaflet-top .leaflet-control") == []
    reader.go("/assets")
    page.locator("#legend").wait_for()
    wait_for(lambda: page.evaluate(COLLIDING, ".legend, .leaflet-control") == [])
    tiles.refused = {"roads"}
    reader.go("/projects/new")
    switch(page).get_by_label("Roads").check()
    page.locator(".map-layers summary").click()
    expect(page.locator(".layer-note")).not_to_be_empty()
    page.locator(".longitude:visible").first.wait_for()
    assert page.evaluate(COLLIDING, ".longitude, .layer-note, .leaflet-control") == []
    tiles.refused = set()


def test_a_server_that_does_not_reply_is_told(reader: Owner, tiles: TileServer) -> None:
    page = reader.page
    page.clock.install()
    tiles.replies.clear()
    page.goto(f"{reader.instance.url}/projects", wait_until="commit")
    wait_for(lambda: tiles.asked)
    note = page.locator(".layer-note")
    expect(note).to_be_empty()
    page.clock.fast_forward(16_000)
    expect(note).to_contain_text("Roads: the server refuses, or does not reply.")
    tiles.replies.set()
    expect(note).to_be_empty()


def test_the_switch_is_used_by_keyboard(reader: Owner) -> None:
    page = reader.go("/projects/new")
    button = page.locator(".map-layers summary")
    button.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Roads")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Survey")).to_be_checked()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(page.get_by_label("Survey")).to_be_hidden()


def test_an_operator_turns_a_background_on(chrome: Browser, instance: Instance) -> None:
    visitor, email = Visitor(chrome, instance), new_email()
    visitor.expected.append(r"https://(tile.openstreetmap|\w\.tile.opentopomap)\.org/")
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.headers.get("referer", ""))
        route.fulfill(status=200, content_type="image/png", body=tile_of("osm"))

    visitor.context.route("https://tile.openstreetmap.org/**", answer)
    visitor.context.route(
        "https://*.tile.opentopomap.org/**", lambda tile: tile.fulfill(status=503)
    )
    sign_up(visitor, email)
    instance.canopy("operator", "add", email)
    page = visitor.go("/projects/new")
    page.get_by_role("link", name="Turn on a background").click()
    assert (visitor.path, asked) == ("/operator/map", [])
    page.get_by_role("link", name="Show sample of OpenTopoMap").click()
    expect(page.get_by_text("The server refuses, or does not reply.")).to_have_count(1)
    expect(page.get_by_role("img", name="Sample of OpenTopoMap")).to_have_count(0)
    page.get_by_role("link", name="Show sample of OpenStreetMap").click()
    expect(page.get_by_role("img", name="Sample of OpenStreetMap")).to_be_visible()
    wait_for(lambda: len(asked) == 2)
    visitor.press("Turn on OpenStreetMap")
    confirm(visitor)
    expect(page.get_by_text("OpenStreetMap is on.")).to_be_visible()
    asked.clear()
    visitor.go("/projects/new")
    expect(page.locator("img.leaflet-tile-loaded").first).to_be_attached()
    assert set(asked) == {f"{instance.url}/"}
    expect(page.locator(".leaflet-control-attribution")).to_contain_text(
        "OpenStreetMap contributors"
    )
    visitor.go("/operator/map")
    visitor.press("Turn off OpenStreetMap")
    expect(page.get_by_text("OpenStreetMap is off.")).to_be_visible()
    visitor.leave()
