"""Maps with many shapes: the first view, names, and what is selected."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Owner
from tests.browser.forest_scenes import press_until, settle
from tests.make import point, square

pytestmark = pytest.mark.slow


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
