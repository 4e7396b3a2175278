"""The pages of assets with their scripts: maps, the list that follows its filters, the form."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Owner
from tests.make import point, square

pytestmark = pytest.mark.slow


def click_middle(owner: Owner, shape: str, *, hover: str = "") -> None:
    """Click on the map in the middle of what it shows.

    Args:
        hover: what has to appear before the click.
    """
    page = owner.page
    expect(page.locator(shape)).to_be_visible()
    box = page.locator(shape).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    if hover:
        expect(page.locator(hover)).to_be_visible()
    page.mouse.click(x, y)


@pytest.mark.trial
def test_the_list_and_the_map_follow_the_filters(forester: Owner) -> None:
    project = forester.post("/v1/projects", name="North Wood", geometry=square(10, 50, 0.1))
    path = f"/v1/projects/{project['id']}/assets"
    pump = {"status": "maintenance", "location": point(10.05, 50.05)}
    forester.post(path, name="Pump", type="equipment", **pump)
    forester.post(path, name="Tower", type="equipment", location=point(10.02, 50.02))
    page = forester.go("/assets")
    names = page.locator(".asset-name")
    expect(names).to_have_text(["Tower", "Pump"])
    with page.expect_response("**/assets/map?status=maintenance*") as shown:
        page.select_option("#status", "maintenance")
    expect(names).to_have_text(["Pump"])
    assert [each["properties"]["name"] for each in shown.value.json()["features"]] == ["Pump"]
    assert "status=maintenance" in page.url

    page.locator("tr[data-id]").hover()
    click_middle(forester, "path.highlighted", hover=".leaflet-tooltip")
    card = page.locator(".leaflet-popup-content")
    expect(card).to_contain_text("equipment · maintenance")
    page.locator("input[name=ids]").check()
    expect(page.locator("#selected-count")).to_have_text("1 selected")
    card.get_by_role("link", name="Pump").click()
    expect(page.locator("h1")).to_have_text("Pump")


def test_assets_at_one_place_are_all_named(forester: Owner) -> None:
    project = forester.post("/v1/projects", name="North Wood", geometry=square(10, 50, 0.1))
    for number in range(8):
        fields = {"name": f"Trap {number}", "type": "sensor", "location": point(10.05, 50.05)}
        forester.post(f"/v1/projects/{project['id']}/assets", **fields)
    page = forester.go("/assets")
    page.locator("tr[data-id]").first.hover()
    click_middle(forester, "path.highlighted", hover=".leaflet-tooltip")
    card = page.locator(".leaflet-popup-content")
    expect(card).to_contain_text("Also here:")
    expect(card).to_contain_text("and 2 more here")
    expect(card.get_by_role("link", name="Trap")).to_have_count(6)


def test_an_asset_is_placed_on_the_map(forester: Owner) -> None:
    forester.post("/v1/projects", name="North Wood", geometry=square(10, 50, 0.1))
    page = forester.go("/assets/new")
    page.locator("#project").press_sequentially("nor")
    expect(page.locator("#project-options option")).to_have_attribute("value", "North Wood")
    page.fill("#project", "North Wood")
    with page.expect_response("**/boundary"):
        page.locator("#project").blur()
    click_middle(forester, "path.boundary")
    latitude = float(page.input_value("#latitude"))
    assert 50 < latitude < 50.1
    expect(page.locator("#place-note")).to_have_text("")
    page.fill("#latitude", "50°30'N")
    expect(page.locator("#place-note")).to_contain_text("outside the boundary")
    page.fill("#latitude", "50,05")
    expect(page.locator("#place-note")).to_have_text("")
    forester.fill(name="Gate", type="gate")
    page.get_by_role("button", name="Add a value").click()
    page.locator("[name=metadata_name]").nth(1).fill("serial")
    page.locator("[name=metadata_value]").nth(1).fill("7")
    forester.press("Create")
    expect(page.locator("h1")).to_have_text("Gate")
    expect(page.locator("#coordinates")).to_contain_text("50.0500° N 10.0")
    expect(page.locator(".asset-sign")).to_be_visible()
    page.get_by_role("button", name="Delete…").click()
    forester.fill(confirmation="Gate")
    forester.press("Delete for good")
    expect(page.locator(".notice")).to_have_text("Gate deleted.")
