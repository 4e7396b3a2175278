"""Maps with many shapes: the first view, names, and what is selected."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Owner
from tests.browser.forest_scenes import press_until, settle
from tests.make import point, square
from tests.waiting import wait_for

# Which of some colors the tiles of a layer have, but for what is pale.
PAINTED = """(layer, shades) => {
  const wanted = shades.map((shade) => shade.match(/\\d+/g).map(Number));
  const counts = shades.map(() => 0);
  for (const tile of layer.querySelectorAll("canvas")) {
    const context = new OffscreenCanvas(256, 256).getContext("2d", { willReadFrequently: true });
    context.drawImage(tile, 0, 0);
    const { data } = context.getImageData(0, 0, 256, 256);
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] < 120) continue; // areas have 128
      wanted.forEach((shade, number) => {
        const isNear = shade.every((part, place) => Math.abs(part - data[at + place]) < 4);
        if (isNear) counts[number] += 1;
      });
    }
  }
  return shades.filter((_, number) => counts[number] > 20);
}"""

pytestmark = pytest.mark.slow


def painted(page: Page, shades: list[str]) -> list[str]:
    """Those of some colors that projects on the map have, but for pale ones."""
    tiles = page.locator(".leaflet-layer[style*='z-index: 2']")
    found: list[str] = tiles.evaluate(PAINTED, shades)
    return found


def box_of(owner: Owner, selector: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of an element."""
    box = owner.page.locator(selector).bounding_box()
    assert box is not None, selector
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def test_the_first_view_has_every_boundary_whole_and_marks_what_is_selected(
    forester: Owner,
) -> None:
    """Also across the antimeridian, and beside the buttons of the map."""
    west = forester.post("/v1/projects", name="West", geometry=square(179.9, -17, 0.05))
    forester.post("/v1/projects", name="East", geometry=square(-179.9, -17.3, 0.05))
    forester.post(
        f"/v1/projects/{west['id']}/assets",
        name="Post",
        type="post",
        location=point(179.91, -16.98),
    )
    page = forester.go("/projects")
    settle(forester)
    for box in page.locator("input[name=ids]").all():
        box.check()
    marks = page.locator("path.selected-shape")
    expect(marks).to_have_count(2)
    left, top, right, bottom = box_of(forester, "#map")
    buttons = box_of(forester, ".map-button >> nth=-1")[2]
    shapes = [mark.bounding_box() for mark in marks.all()]
    for shape in shapes:
        assert shape is not None
        assert max(left, buttons) < shape["x"]
        assert shape["x"] + shape["width"] < right
        assert top < shape["y"]
        assert shape["y"] + shape["height"] < bottom
    page.locator("input[name=ids]").first.uncheck()
    expect(marks).to_have_count(1)
    forester.go("/projects?search=East#map=8/50/10")
    page.locator("input[name=ids]").check()
    expect(marks).to_have_count(0)
    forester.press("Show on the map")
    expect(marks).to_have_count(1)
    with page.expect_response("**/projects/map?status=any*") as boundaries:
        forester.go("/assets")
    assert boundaries.value.json()["numberReturned"] == 1
    page.locator("input[name=ids]").check()
    expect(marks).to_have_count(1)


def test_names_appear_where_there_is_room(forester: Owner) -> None:
    places = [(row, column) for row in range(3) for column in range(3)]
    for row, column in places:
        shape = square(10 + row / 100, 50 + column / 100, 0.008)
        forester.post("/v1/projects", name=f"Stand {row}.{column}", geometry=shape)
    page = forester.go("/projects#map=8/50.0150/10.0150")
    settle(forester)
    names = page.locator(".shape-name")
    assert names.count() < len(places)
    page.locator("#map").focus()
    press_until(page, "+", lambda: names.count() == len(places))
    boxes = [name.bounding_box() for name in names.all()]
    for number, one in enumerate(boxes):
        for other in boxes[:number]:
            assert one is not None
            assert other is not None
            is_beside = abs(one["x"] - other["x"]) >= min(one["width"], other["width"])
            assert is_beside or abs(one["y"] - other["y"]) >= one["height"]


def test_the_map_is_colored_by_a_key_of_the_metadata(forester: Owner) -> None:
    for number, species in enumerate(("oak", "oak", "beech", None)):
        forester.post(
            "/v1/projects", name=f"Stand {number}", geometry=square(10 + number / 50, 50, 0.01),
            metadata={"species": species} if species else None,
        )  # fmt: skip
    page = forester.go("/projects")
    settle(forester)
    page.get_by_text("Colors", exact=True).click()
    rows = page.locator("#colors button")
    expect(rows).to_have_text(["Active 4"])
    with page.expect_response("**/projects/map?color_by=metadata.species*") as colored:
        page.get_by_label("Color by").select_option("species")
    values = [each["properties"].get("value") for each in colored.value.json()["features"]]
    assert sorted(values, key=str) == [None, "beech", "oak", "oak"]
    expect(rows).to_have_text(["oak 2", "beech 1", "No value 1"])
    expect(page).to_have_url(re.compile("color_by=metadata.species"))
    samples = rows.locator(".color-sample")
    shades = samples.evaluate_all("all => all.map((each) => getComputedStyle(each).color)")
    page.locator("h1").hover()  # the pointer may be on a row
    wait_for(lambda: painted(page, shades) == shades)
    rows.nth(1).focus()  # all others are pale then
    wait_for(lambda: painted(page, shades) == shades[1:2])
    page.reload()
    expect(rows.first).to_have_text("oak 2")
